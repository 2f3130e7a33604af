"""One file per page, each with `render()`."""
