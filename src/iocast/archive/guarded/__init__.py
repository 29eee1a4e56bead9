"""Reading what anybody may have made: regular files only, no larger than they can be, in bounded memory."""
