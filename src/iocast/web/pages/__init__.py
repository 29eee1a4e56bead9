"""The pages of the browser door: plain HTML, one style sheet, small scripts."""
