#pragma once

// How the page of a plan looks. No file besides the page is needed.
namespace tilewright::reports {

inline constexpr char page_colours[] = R"css(
:root { color-scheme: light dark; --ink: #1c1c1a; --dim: #5d5c57; --paper: #fcfcfb; --panel: #f1f0ec; --line: #d9d8d2; --mark: #1c1c1a;
  --h0: #2a78d6; --h1: #1baf7a; --h2: #eda100; --h3: #008300; --h4: #4a3aa7; --h5: #e34948; --h6: #e87ba4; --h7: #eb6834;
  --works: #2a78d6; --computes: #7d8da3; --data: #eb6834; --engine: #e87ba4; --queue: #eda100; --cores: #4a3aa7; --idle: #c9c8c2; --end: #e4e3de; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #f4f3ef; --dim: #b4b2aa; --paper: #1a1a19; --panel: #272725; --line: #43423f; --mark: #ffffff;
    --h0: #3987e5; --h1: #199e70; --h2: #c98500; --h3: #2ca02c; --h4: #9085e9; --h5: #e66767; --h6: #d55181; --h7: #d95926;
    --works: #3987e5; --computes: #74849b; --data: #d95926; --engine: #d55181; --queue: #c98500; --cores: #9085e9; --idle: #6a6964; --end: #3b3a37; } }
)css";

/// What pictures need where they stand alone, too.
inline constexpr char picture_css[] = R"css(
.word { fill: var(--ink); font: 11.5px ui-monospace, monospace; } .lower { fill: var(--dim); font-size: 10px; } .grid { stroke: var(--line); }
.ground { fill: none; pointer-events: all; } .off { display: none; } .out { opacity: 0; pointer-events: none; }
.box rect { fill-opacity: .25; stroke-width: 1; }
.hue0 { fill: var(--h0); stroke: var(--h0); } .hue1 { fill: var(--h1); stroke: var(--h1); } .hue2 { fill: var(--h2); stroke: var(--h2); }
.hue3 { fill: var(--h3); stroke: var(--h3); } .hue4 { fill: var(--h4); stroke: var(--h4); } .hue5 { fill: var(--h5); stroke: var(--h5); }
.hue6 { fill: var(--h6); stroke: var(--h6); } .hue7 { fill: var(--h7); stroke: var(--h7); }
.works { fill: var(--works); stroke: var(--works); } .computes { fill: var(--computes); stroke: var(--computes); }
.data { fill: var(--data); stroke: var(--data); } .engine { fill: var(--engine); stroke: var(--engine); }
.queue { fill: var(--queue); stroke: var(--queue); } .cores { fill: var(--cores); stroke: var(--cores); }
.idle { fill: var(--idle); stroke: var(--idle); } .end { fill: var(--end); stroke: var(--end); } .all { fill: var(--end); }
.job rect { fill-opacity: .5; stroke-width: 1; } .job .open { fill-opacity: .12; } .left-out { stroke: var(--ink); stroke-dasharray: 2 3; }
.bar rect { stroke: none; } .cycles rect { stroke: var(--paper); }
.roof { stroke: var(--works); stroke-width: 2; } .point { fill: var(--data); stroke: var(--paper); stroke-width: 2; }
)css";

inline constexpr char page_css[] = R"css(
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; } h2 { margin: 2.2rem 0 .6rem; font-size: 1.2rem; } h3 { margin: 1rem 0 .2rem; font-size: 1rem; }
p { margin: .3rem 0; max-width: 52rem; } .how, header p { color: var(--dim); }
dl.figures { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; }
dl.figures div { padding: .4rem .7rem; border-radius: 6px; background: var(--panel); }
dl.figures dt { color: var(--dim); font-size: .85rem; }
dl.figures dd { margin: 0; font-size: 1.3rem; } dl.figures dd small { color: var(--dim); font-size: .85rem; }
.most { font-size: 1.05rem; } .refused { padding: .8rem 1rem; border-left: 4px solid var(--h5); background: var(--panel); }
.shown { position: relative; overflow-x: auto; } .shown > svg { display: block; width: 100%; max-width: 76rem; min-width: 40rem; height: auto; }
.shown > svg.roofline { width: auto; min-width: 0; max-width: 100%; }
td svg, .legend svg, p svg { display: inline-block; vertical-align: -1px; } svg.bar rect { stroke: none; }
.tools { position: sticky; left: 0; display: flex; gap: .25rem; justify-content: flex-end; margin: .2rem 0; }
.tools button { min-width: 2rem; padding: .1rem .5rem; border: 1px solid var(--line); border-radius: 4px; background: var(--panel); color: var(--ink);
  font: inherit; font-size: .85rem; cursor: pointer; }
.tools button:hover { border-color: var(--ink); }
svg.zoomed :is(.ground, .box, .job) { touch-action: pan-y; } svg.zoomed .ground { cursor: grab; } svg.zoomed.moving .ground { cursor: grabbing; }
svg:focus-visible, svg:focus-within { outline: 1px dotted var(--line); }
.box, .job { cursor: pointer; outline: none; } .box .word, .job .word { pointer-events: none; }
.box rect { vector-effect: non-scaling-stroke; }
.box.marked rect, .job rect.marked { fill-opacity: .7; }
.box:focus rect, .box.shown rect, .job rect:focus { fill-opacity: .85; stroke: var(--mark); stroke-width: 2.5; outline: none; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: .4rem 0; padding: 0; list-style: none; }
.wide { overflow-x: auto; }
table { margin: .5rem 0 1rem; border-collapse: collapse; font-size: .87rem; }
caption { padding: .2rem 0; color: var(--dim); text-align: left; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: normal; }
thead th { color: var(--dim); } .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.part th, .part td:nth-child(2), .part td:nth-child(3) { white-space: nowrap; }
.layers td:nth-child(7), .layers-that-ran td:nth-child(9) { min-width: 17rem; } .total td, .total th { border-bottom: 0; font-weight: 600; } .different td, .different th { color: var(--h5); font-weight: 600; }
.program code { display: block; padding-left: calc(var(--depth) * 1.2em + 1.2em); text-indent: -1.2em; } .program .value { color: var(--dim); }
tr.marked > * { background: color-mix(in srgb, var(--h0) 16%, transparent); }
tr.line:focus { outline: 2px solid var(--mark); outline-offset: -2px; }
details { margin: .3rem 0; } summary { cursor: pointer; } details.layer { padding: .2rem .8rem; border-left: 3px solid var(--line); }
details.layer > summary { font-weight: 600; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) 19rem; gap: 1.5rem; align-items: start; }
aside { position: sticky; top: 1rem; padding: .8rem 1rem; border-radius: 6px; background: var(--panel); overflow-wrap: anywhere; }
aside h3 { margin: 0 0 .4rem; } aside dl { margin: 0; } aside dt { color: var(--dim); font-size: .8rem; } aside dd { margin: 0 0 .3rem; }
@media (max-width: 60rem) {
  body { padding: 1rem; } .beside { display: block; }
  aside { position: sticky; top: auto; bottom: .5rem; z-index: 1; max-height: 35vh; overflow: auto; padding: .5rem .8rem; box-shadow: 0 0 8px #0005; }
  aside:not(:has(h3)) { display: none; } aside dl { display: grid; grid-template-columns: auto 1fr; gap: 0 .6rem; } }
@media print {
  :root { color-scheme: light; --ink: #000; --dim: #444; --paper: #fff; --panel: #fff; --line: #bbb; }
  body { padding: 0; font-size: 10pt; } aside, .tools { display: none; } .beside { display: block; } .wide, .shown { overflow: visible; }
  .shown > svg { min-width: 0; } svg, tr, h2, h3 { break-inside: avoid; } h2, h3, caption { break-after: avoid; }
  table { font-size: 7.5pt; } th, td { padding: .1rem .3rem; } thead th, .part :is(th, td) { white-space: normal !important; }
  .layers td:nth-child(7), .layers-that-ran td:nth-child(9) { min-width: 0; } td code { overflow-wrap: anywhere; } }
)css";

}  // namespace tilewright::reports
