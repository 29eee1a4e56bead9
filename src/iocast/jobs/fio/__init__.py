"""fio job files, read into a Job and written from one."""
