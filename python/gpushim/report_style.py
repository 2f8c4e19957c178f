# SPDX-License-Identifier: Apache-2.0
"""The style of the report's page. Colours stand for the same things in the bar, the tables and the timeline."""

STYLE = """
:root {
  color-scheme: light dark;
  --back: #ffffff; --panel: #f5f6f8; --text: #1a1e24; --soft: #59626e; --edge: #dde1e7; --over: #eceff4; --mark: #1f5fc4;
  --program: #8b95a4; --cpu: #d8742a; --device: #2f6fd8; --transfers: #8a4fc8; --start: #b08a00; --dispatch: #1a9a86; --faults: #cf3647;
  --inside: #ffffff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #13161a; --panel: #1b1f25; --text: #e5e8ec; --soft: #9ba5b1; --edge: #2c323a; --over: #242a32; --mark: #7eaef5;
    --program: #6f7a89; --cpu: #e38f4c; --device: #5a92ec; --transfers: #ad7ee4; --start: #cfa834; --dispatch: #35b8a3; --faults: #ea6271;
    --inside: #0d1013;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, "Segoe UI", Roboto, sans-serif; }
main { max-width: 1160px; margin: 0 auto; padding: 28px 24px 64px; }
header p, .soft { color: var(--soft); }
header p { margin: 2px 0; font-size: 13px; overflow-wrap: anywhere; }
h1 { font-size: 15px; font-weight: 600; color: var(--soft); margin: 0 0 4px; letter-spacing: .02em; }
h2 { font-size: 18px; margin: 40px 0 4px; }
h2 + p { margin: 0 0 12px; color: var(--soft); font-size: 13.5px; max-width: 110ch; }
p.note { margin: 8px 0 0; color: var(--soft); font-size: 13px; }
.verdict { font-size: clamp(20px, 2.6vw, 27px); line-height: 1.3; font-weight: 600; margin: 14px 0 22px; text-wrap: balance; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin-bottom: 26px; }
.tile { background: var(--panel); border: 1px solid var(--edge); border-radius: 10px; padding: 12px 14px; }
.tile b { display: block; font-size: 22px; font-weight: 600; font-variant-numeric: tabular-nums; }
.tile span { color: var(--soft); font-size: 13px; }
.bar { display: flex; height: 26px; border-radius: 6px; overflow: hidden; background: var(--panel); gap: 2px; }
.bar i { display: block; min-width: 2px; }
.legend { display: flex; flex-wrap: wrap; gap: 6px 22px; margin: 12px 0 0; padding: 0; list-style: none; font-size: 13.5px; }
.legend i, .key { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin-right: 7px; }
.legend b { font-variant-numeric: tabular-nums; font-weight: 600; margin-left: 5px; }
.program { background: var(--program); } .cpu { background: var(--cpu); } .device { background: var(--device); }
.transfers { background: var(--transfers); } .start { background: var(--start); } .dispatch { background: var(--dispatch); }
.faults { background: var(--faults); }
.scroll { overflow-x: auto; border: 1px solid var(--edge); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 12px; text-align: left; white-space: nowrap; border-bottom: 1px solid var(--edge); vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
tbody tr:hover { background: var(--over); }
th { background: var(--panel); color: var(--soft); font-weight: 600; font-size: 12.5px; }
th button { all: unset; cursor: pointer; } th button:focus-visible { outline: 2px solid var(--mark); border-radius: 3px; }
th[aria-sort=descending] button::after { content: " \\2193"; } th[aria-sort=ascending] button::after { content: " \\2191"; }
th.number, td.number { text-align: right; position: relative; }
td.wide { white-space: normal; min-width: 260px; overflow-wrap: anywhere; }
td .meter { position: absolute; right: 12px; bottom: 3px; height: 3px; border-radius: 2px; }
code { font: 12.5px ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.none { color: var(--soft); opacity: .6; }
ol.advice { padding-left: 22px; margin: 0; } ol.advice li { margin: 0 0 10px; max-width: 92ch; overflow-wrap: anywhere; }
ol.advice small { display: block; color: var(--soft); font-size: 13px; }
.tools { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 8px; align-items: center; font-size: 13px; color: var(--soft); }
.tools button { font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--edge); border-radius: 7px;
  padding: 3px 12px; cursor: pointer; }
.tools button:hover { background: var(--over); }
#view { position: relative; border: 1px solid var(--edge); border-radius: 10px; overflow: hidden; background: var(--back); }
canvas { display: block; width: 100%; cursor: grab; touch-action: pan-y; } canvas:focus-visible { outline: 2px solid var(--mark); }
#tip { position: absolute; pointer-events: none; background: var(--panel); border: 1px solid var(--edge); border-radius: 8px;
  padding: 7px 10px; font-size: 12.5px; max-width: min(380px, 90%); box-shadow: 0 4px 14px #0003; overflow-wrap: anywhere; }
#tip b { display: block; }
details { margin-top: 36px; } summary { cursor: pointer; color: var(--soft); } details .scroll { margin-top: 12px; max-width: 560px; }
footer { margin-top: 44px; color: var(--soft); font-size: 12.5px; }
@media (max-width: 640px) { main { padding: 18px 14px 48px; } th, td { padding: 6px 9px; } }
@media print { #view, .tools, details { display: none; } }
"""
