"""Load through MariaDB and MySQL."""
