"""How the report page looks: light, dark and on paper. Colours are variables, named once."""

STYLE = """
:root { color-scheme: light dark;
  --page: #fdfdfc; --card: #f3f5f6; --text: #1f262e; --quiet: #5b6672; --line: #dde1e5;
  --agent: #3b7dd8; --random: #98a0aa; --ink: #16202b; --good: #1c7f60; --bad: #c03a4c; }
@media (prefers-color-scheme: dark) { :root {
  --page: #14181d; --card: #1e242b; --text: #e4e8ec; --quiet: #9aa5b1; --line: #303842;
  --agent: #5b9cf0; --random: #77808b; --ink: #f3f6f9; --good: #4cc39c; --bad: #ef7585; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.5rem 4rem; max-width: 72rem; background: var(--page); color: var(--text);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .2rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.4rem 0 .6rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
p { margin: .4rem 0 .8rem; max-width: 52rem; }
.quiet, figcaption, .legend { color: var(--quiet); font-size: .87rem; }
.warning { border-left: 4px solid var(--bad); padding: .5rem .8rem; background: var(--card); }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: .8rem; margin: 1.2rem 0; }
.tile { background: var(--card); border-radius: 8px; padding: .8rem 1rem; }
.tile b { display: block; font-size: 1.7rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--quiet); font-weight: 600; font-size: .85rem; white-space: nowrap; }
td { white-space: nowrap; }
td:first-child, td:last-child { white-space: normal; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.2rem; margin: 0; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
code { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: .9em; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: 2px; margin: 0 .35em 0 .9em; }
.swatch:first-child { margin-left: 0; }
span.agent { background: var(--agent); } span.random { background: var(--random); }
svg { display: block; } svg.chart { width: 100%; max-width: 40rem; height: auto; }
svg text { font-size: 12px; fill: var(--quiet); }
.track { fill: var(--line); opacity: .55; } .grid { stroke: var(--line); }
.agent { fill: var(--agent); } .random { fill: var(--random); }
.whisker { stroke: var(--ink); stroke-width: 1.6; opacity: .8; }
.stroke { fill: none; stroke-width: 2; }
.stroke.agent { stroke: var(--agent); } .stroke.random { stroke: var(--random); }
figure { margin: 0 0 1.6rem; break-inside: avoid; }
.film { display: grid; grid-template-columns: repeat(auto-fill, minmax(5.2rem, 1fr)); gap: .5rem; }
.film img { width: 100%; image-rendering: pixelated; border-radius: 3px; display: block; }
.film div { font-size: .72rem; line-height: 1.3; color: var(--quiet); }
.film .note { color: var(--good); font-weight: 600; }
.badge { font-weight: 600; } .badge.good { color: var(--good); } .badge.bad { color: var(--bad); }
summary { cursor: pointer; margin: .6rem 0; }
tr { break-inside: avoid; }
@media print {
  :root { --page: #fff; --card: #f3f5f6; --text: #000; --quiet: #444; --line: #ccc; --ink: #000;
    --agent: #3b7dd8; --random: #98a0aa; --good: #1c7f60; --bad: #c03a4c; }
  body { max-width: none; padding: 0; font-size: 11px; } .scroll { overflow: visible; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  td { white-space: normal; } h2 { break-after: avoid; }
}
"""
