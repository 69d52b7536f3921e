#pragma once

// How the page of a plan looks and answers. No file besides the page is needed.
namespace tilewright::reports {

inline constexpr char page_css[] = R"css(
:root { color-scheme: light dark; --ink: #1c1c1a; --dim: #5d5c57; --paper: #fcfcfb; --panel: #f1f0ec; --line: #d9d8d2; --mark: #1c1c1a;
  --h0: #2a78d6; --h1: #1baf7a; --h2: #eda100; --h3: #008300; --h4: #4a3aa7; --h5: #e34948; --h6: #e87ba4; --h7: #eb6834;
  --works: #2a78d6; --data: #eb6834; --engine: #e87ba4; --queue: #eda100; --cores: #4a3aa7; --idle: #c9c8c2; --end: #e4e3de; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #f4f3ef; --dim: #b4b2aa; --paper: #1a1a19; --panel: #272725; --line: #43423f; --mark: #ffffff;
    --h0: #3987e5; --h1: #199e70; --h2: #c98500; --h3: #2ca02c; --h4: #9085e9; --h5: #e66767; --h6: #d55181; --h7: #d95926;
    --works: #3987e5; --data: #d95926; --engine: #d55181; --queue: #c98500; --cores: #9085e9; --idle: #6a6964; --end: #3b3a37; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem; max-width: 90rem; background: var(--paper); color: var(--ink);
  font: 15px/1.45 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.5rem; } h2 { margin: 2.2rem 0 .6rem; font-size: 1.2rem; } h3 { margin: 1rem 0 .2rem; font-size: 1rem; }
p { margin: .3rem 0; max-width: 52rem; } .how, header p { color: var(--dim); }
dl.figures { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; }
dl.figures div { padding: .4rem .7rem; border-radius: 6px; background: var(--panel); }
dl.figures dt { color: var(--dim); font-size: .85rem; }
dl.figures dd { margin: 0; font-size: 1.3rem; } dl.figures dd small { color: var(--dim); font-size: .85rem; }
.refused { padding: .8rem 1rem; border-left: 4px solid var(--h5); background: var(--panel); }
svg { display: block; max-width: 100%; height: auto; } svg.bar, .legend svg, td svg { display: inline-block; vertical-align: -1px; }
.word { fill: var(--ink); font: 11.5px ui-monospace, monospace; } .grid { stroke: var(--line); }
.box { cursor: pointer; outline: none; }
.box rect { fill-opacity: .25; stroke-width: 1; vector-effect: non-scaling-stroke; }
.box .word { pointer-events: none; }
.box.marked rect { fill-opacity: .55; } .box:focus rect, .box.shown rect { fill-opacity: .75; stroke: var(--mark); stroke-width: 2.5; }
.hue0 { fill: var(--h0); stroke: var(--h0); } .hue1 { fill: var(--h1); stroke: var(--h1); } .hue2 { fill: var(--h2); stroke: var(--h2); }
.hue3 { fill: var(--h3); stroke: var(--h3); } .hue4 { fill: var(--h4); stroke: var(--h4); } .hue5 { fill: var(--h5); stroke: var(--h5); }
.hue6 { fill: var(--h6); stroke: var(--h6); } .hue7 { fill: var(--h7); stroke: var(--h7); }
.works { fill: var(--works); } .data { fill: var(--data); } .engine { fill: var(--engine); } .queue { fill: var(--queue); }
.cores { fill: var(--cores); } .idle { fill: var(--idle); } .end { fill: var(--end); } .all { fill: var(--end); }
svg.cycles rect { stroke: var(--paper); }
.roof { stroke: var(--works); stroke-width: 2; } .point { fill: var(--data); stroke: var(--paper); stroke-width: 2; }
.legend { display: flex; flex-wrap: wrap; gap: .3rem 1.2rem; margin: .4rem 0; padding: 0; list-style: none; }
.wide { overflow-x: auto; }
table { margin: .5rem 0 1rem; border-collapse: collapse; font-size: .87rem; }
caption { padding: .2rem 0; color: var(--dim); text-align: left; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: normal; }
thead th { color: var(--dim); } .number { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
.part th, .part td:nth-child(2), .part td:nth-child(3) { white-space: nowrap; }
.total td, .total th { border-bottom: 0; font-weight: 600; }
.program code { display: block; padding-left: calc(var(--depth) * 1.2em + 1.2em); text-indent: -1.2em; } .program .value { color: var(--dim); }
tr.marked > * { background: color-mix(in srgb, var(--h0) 16%, transparent); }
tr.line:focus { outline: 2px solid var(--mark); outline-offset: -2px; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr) 19rem; gap: 1.5rem; align-items: start; }
aside { position: sticky; top: 1rem; padding: .8rem 1rem; border-radius: 6px; background: var(--panel); overflow-wrap: anywhere; }
aside h3 { margin: 0 0 .4rem; } aside dl { margin: 0; } aside dt { color: var(--dim); font-size: .8rem; } aside dd { margin: 0 0 .3rem; }
@media (max-width: 60rem) { .beside { display: block; } aside { position: sticky; top: auto; bottom: 0; z-index: 1; max-height: 40vh; overflow: auto; } }
@media print {
  :root { color-scheme: light; --ink: #000; --dim: #444; --paper: #fff; --panel: #fff; --line: #bbb; }
  body { padding: 0; font-size: 10pt; } aside { display: none; } .beside { display: block; } .wide { overflow: visible; }
  svg, tr, h2, h3 { break-inside: avoid; } h2, h3, caption { break-after: avoid; } }
)css";

inline constexpr char page_js[] = R"js(
'use strict';
(() => {
  const details = document.getElementById('details');
  const all = (of, selector) => [...of.querySelectorAll(selector)];
  const touches = (part) => (part.dataset.buffers || '').split(' ').filter(Boolean);
  const parts = all(document, '[data-buffers]');

  // Boxes, rows and lines that have a buffer in common with `part`; none for null.
  const mark = (part) => {
    const buffers = new Set(part ? touches(part) : []);
    for (const other of parts) {
      other.classList.toggle('marked', touches(other).some((buffer) => buffers.has(buffer)));
      other.classList.remove('shown');
    }
  };
  const added = (to, name, text) => { to.appendChild(document.createElement(name)).textContent = text; };
  // The cells of a row of the table of buffers, each under the name of its column.
  const show = (row) => {
    const names = all(row.closest('table'), 'thead th'), list = document.createElement('dl');
    details.replaceChildren();
    added(details, 'h3', row.cells[0].textContent);
    for (let at = 1; at < row.cells.length; ++at) {
      if (!row.cells[at].textContent) continue;
      added(list, 'dt', names[at].textContent);
      added(list, 'dd', row.cells[at].textContent);
    }
    details.appendChild(list);
  };
  const answer = (event) => {
    const part = event.target.closest('[data-buffers]');
    if (!part) return;
    mark(part);
    const row = part.matches('.part') ? part : document.getElementById(part.dataset.row);
    if (!row) return;
    show(row);
    for (const box of parts) if (box.dataset.row === row.id) box.classList.add('shown');
  };
  // A page that scrolls beneath a mouse at rest is no answer to anything.
  let rests = '';
  const moved = (event) => {
    const at = `${event.screenX} ${event.screenY}`;
    if (at !== rests) answer(event);
    rests = at;
  };
  document.addEventListener('pointerover', moved);
  document.addEventListener('pointermove', (event) => { rests = `${event.screenX} ${event.screenY}`; });
  document.addEventListener('focusin', answer);

  // One stop of the tab key for each picture, and for the program; arrow keys go on from there.
  const step = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return mark(null);
    const from = event.target.closest('.box, .line');
    if (!from) return;
    const line = from.matches('.line');
    const group = all(from.closest('svg, table'), line ? '.line' : '.box');
    // Addresses go up in a picture, lines down in the program.
    let to = group.indexOf(from) + (step[event.key] || 0) * (line ? -1 : 1);
    if (event.key === 'Home') to = 0;
    else if (event.key === 'End') to = group.length - 1;
    else if (!step[event.key]) return;
    event.preventDefault();
    if (!group[to]) return;
    from.tabIndex = -1;
    group[to].tabIndex = 0;
    group[to].focus();
  });
  addEventListener('beforeprint', () => all(document, 'details').forEach((one) => { one.open = true; }));
})();
)js";

}  // namespace tilewright::reports
