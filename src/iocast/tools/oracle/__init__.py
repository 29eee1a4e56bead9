"""Oracle's dynamic views: what is asked of them, since which version they have it, and what SQL*Plus prints."""
