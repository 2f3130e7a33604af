"""The player: frames as sprite sheets, words beside them, and a component that plays them in the browser."""
