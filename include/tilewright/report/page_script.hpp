#pragma once

// How the page of a plan answers: what is pointed at, keys, and zoom.
namespace tilewright::reports {

inline constexpr char page_js[] = R"js(
'use strict';
(() => {
  const details = document.getElementById('details');
  const all = (of, selector) => [...of.querySelectorAll(selector)];
  const touches = (part) => (part.dataset.buffers || '').split(' ').filter(Boolean);
  const parts = all(document, '[data-buffers]');
  const by_buffer = new Map();
  for (const part of parts) {
    for (const buffer of touches(part)) {
      if (!by_buffer.has(buffer)) by_buffer.set(buffer, []);
      by_buffer.get(buffer).push(part);
    }
  }

  // Boxes, rows, lines and jobs that have a buffer in common with `part`; none for null.
  let marked = [], marked_by = '', shown = [];
  const mark = (part) => {
    const by = part ? touches(part).join(' ') : '';
    for (const other of shown) other.classList.remove('shown');
    shown = [];
    if (by === marked_by) return;
    marked_by = by;
    for (const other of marked) other.classList.remove('marked');
    marked = by.split(' ').filter(Boolean).flatMap((buffer) => by_buffer.get(buffer));
    for (const other of marked) other.classList.add('marked');
  };
  const added = (to, name, text) => { to.appendChild(document.createElement(name)).textContent = text; };
  // The cells of a row of a table, each under the name of its column.
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
  const show_job = (job) => {
    const [first, ...rest] = job.querySelector('title').textContent.split('\n');
    details.replaceChildren();
    added(details, 'h3', first);
    added(details, 'p', job.closest('.lane').getAttribute('aria-label'));
    for (const line of rest) added(details, 'p', line);
  };
  const answer = (event) => {
    const job = event.target.closest('.job rect');
    if (job) {
      mark(job);
      return show_job(job);
    }
    const part = event.target.closest('[data-buffers]');
    if (!part) return;
    mark(part);
    const row = part.matches('.part') ? part : document.getElementById(part.dataset.row);
    if (!row) return;
    show(row);
    shown = marked.filter((box) => box.dataset.row === row.id);
    for (const box of shown) box.classList.add('shown');
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

  // What stands in a picture is laid out anew for the part of it that a reader looks at.
  const made = (name, attributes) => {
    const one = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, value] of Object.entries(attributes)) one.setAttribute(key, value);
    return one;
  };
  const number = (element, name) => Number(element.getAttribute(name));
  // What is as it was costs a browser time, too: nothing is written that does not change. `is`: what was written before.
  const put = (element, is, name, value) => { if (is[name] !== value) element.setAttribute(name, is[name] = value); };
  const has_class = (element, is, name, on) => { if (is[name] !== on) element.classList.toggle(name, is[name] = on); };
  const letter = 6.6, tall = 12, deepest = 4096;
  class zoom {
    constructor(svg) {
      this.svg = svg;
      [this.left, this.top, this.right, this.bottom] = svg.dataset.plot.split(' ').map(Number);
      this.both = svg.dataset.axes === 'xy';
      this.pieces = all(svg, '.box, .job').map((part) => {
        const rect = part.querySelector('rect'), text = part.querySelector('text');
        const [x, y, w, h] = ['x', 'y', 'width', 'height'].map((name) => number(rect, name));
        return { part, rect, text, x, y, w, h, letters: text ? text.textContent.length : 0, is: {} };
      });
      this.ticks = all(svg, '.tick, .break').map((tick) => {
        const line = tick.querySelector('line');
        return { tick, line, text: tick.querySelector('text'), across: tick.dataset.axis === 'x', at: number(line, tick.dataset.axis + '1'),
          mark: tick.matches('.tick'), is: {} };
      });
      this.first = this.ticks.map(({ tick }) => tick.classList.contains('off'));
      // Times of a timeline, and what is left out between them.
      this.end = Number(svg.dataset.end || 0);
      this.breaks = (svg.dataset.breaks || '').split(' ').filter(Boolean).map((one) => one.split(':').map(Number));
      this.all();
    }
    all() { [this.x, this.y, this.kx, this.ky] = [0, 0, 1, 1]; }
    across(x) { return this.left + (x - this.left - this.x) * this.kx; }
    down(y) { return this.top + (y - this.top - this.y) * this.ky; }
    // By a factor, with the point (x, y) of the picture where it is.
    by(factor, x, y) {
      const at = this.left + this.x + (x - this.left) / this.kx, below = this.top + this.y + (y - this.top) / this.ky;
      this.kx = Math.min(deepest, Math.max(1, this.kx * factor));
      if (this.both) this.ky = Math.min(deepest, Math.max(1, this.ky * factor));
      this.x = at - this.left - (x - this.left) / this.kx;
      this.y = below - this.top - (y - this.top) / this.ky;
      this.draw();
    }
    move(x, y) {
      this.x += x / this.kx;
      this.y += y / this.ky;
      this.draw();
    }
    // Brings a piece into sight.
    seek(part) {
      const one = this.pieces.find((piece) => piece.part === part);
      const beside = (from, to, low, high) => (to <= low ? low - to + 20 : from >= high ? high - from - 20 : 0);
      const x = this.across(one.x), y = this.down(one.y);
      const dx = beside(x, x + one.w * this.kx, this.left, this.right), dy = beside(y, y + one.h * this.ky, this.top, this.bottom);
      if (dx || dy) this.move(-dx, -dy);
    }
    draw() {
      const wide = this.right - this.left, high = this.bottom - this.top;
      this.x = Math.max(0, Math.min(wide - wide / this.kx, this.x));
      this.y = Math.max(0, Math.min(high - high / this.ky, this.y));
      const all_of_it = this.kx === 1 && this.ky === 1;
      this.svg.classList.toggle('zoomed', !all_of_it);
      for (const one of this.pieces) {
        const from = Math.max(this.left, this.across(one.x)), to = Math.min(this.right, this.across(one.x + one.w));
        const above = Math.max(this.top, this.down(one.y)), below = Math.min(this.bottom, this.down(one.y + one.h));
        const seen = to > from && below > above;
        has_class(one.part, one.is, 'out', !seen);  // what is not displayed loses the focus
        if (!seen) continue;
        put(one.rect, one.is, 'x', from);
        put(one.rect, one.is, 'width', to - from);
        if (this.both) {
          put(one.rect, one.is, 'y', above);
          put(one.rect, one.is, 'height', below - above);
        }
        if (!one.text) continue;
        const off = below - above < tall || letter * one.letters + 8 > to - from;
        has_class(one.text, one.is, 'off', off);
        if (off) continue;
        one.text.setAttribute('x', from + 5);
        if (this.both) one.text.setAttribute('y', (above + below) / 2 + 4);
      }
      this.draw_ticks(all_of_it);
    }
    draw_ticks(all_of_it) {
      const last = { true: -1e9, false: -1e9 };
      const own = this.end > 0;
      this.ticks.forEach((one, index) => {
        const to = one.across ? this.across(one.at) : this.down(one.at);
        const inside = one.across ? to >= this.left - .01 && to <= this.right + .01 : to >= this.top - .01 && to <= this.bottom + .01;
        const far = Math.abs(to - last[one.across]) >= (one.across ? 24 : tall);
        const on = inside && (!one.mark || (own ? all_of_it : all_of_it ? !this.first[index] : far));
        has_class(one.tick, one.is, 'off', !on);
        if (!on) return;
        if (one.mark) last[one.across] = to;
        for (const end of one.across ? ['x1', 'x2'] : ['y1', 'y2']) one.line.setAttribute(end, to);
        if (one.text) one.text.setAttribute(one.across ? 'x' : 'y', one.across ? to : to + 4);
      });
      if (!own) return;
      for (const old of all(this.svg, '.own')) old.remove();
      if (all_of_it) return;
      // Round times of what is seen.
      const per = (this.right - this.left) / this.end * this.kx;
      let step = 1;
      for (let at = 0; step * per < 80; ++at) step *= at % 3 === 1 ? 2.5 : 2;
      const begin = this.x / (this.right - this.left) * this.end;
      for (let time = Math.ceil(begin / step) * step; ; time += step) {
        const x = this.left + (time - begin) * per;
        if (x > this.right) break;
        const cycle = time + this.breaks.reduce((sum, [at, cycles]) => sum + (at < time ? cycles : 0), 0);
        const tick = made('g', { class: 'own' });
        tick.append(made('line', { class: 'grid', x1: x, x2: x, y1: this.top, y2: this.bottom + 4 }),
                    made('text', { class: 'word', x, y: this.bottom + 16, 'text-anchor': 'middle' }));
        tick.lastChild.textContent = cycle.toLocaleString('en');
        this.svg.prepend(tick);
      }
    }
  }

  const zooms = new Map(all(document, 'svg.zooms').map((svg) => [svg, new zoom(svg)]));
  const name_of = (svg) => svg.getAttribute('aria-label').split(':')[0];
  const save = (svg) => {
    const alone = svg.cloneNode(true), style = made('style', {});
    alone.setAttribute('xmlns', 'http://www.w3.org/2000/svg');
    style.textContent = document.getElementById('alone').content.textContent;
    alone.prepend(style);
    const link = document.createElement('a');
    const file = new Blob([new XMLSerializer().serializeToString(alone)], { type: 'image/svg+xml' });
    link.href = URL.createObjectURL(file);
    link.download = name_of(svg).replace(/[^A-Za-z0-9.-]+/g, '_') + '.svg';
    link.click();
    URL.revokeObjectURL(link.href);
  };
  for (const place of all(document, '.shown')) {
    const svg = place.querySelector('svg'), of = zooms.get(svg), tools = document.createElement('div');
    const button = (text, says, does) => {
      const one = tools.appendChild(document.createElement('button'));
      one.type = 'button';
      one.textContent = text;
      one.title = says;
      one.setAttribute('aria-label', `${says}: ${name_of(svg)}`);
      one.addEventListener('click', does);
    };
    tools.className = 'tools';
    if (of) {
      const middle = () => [(of.left + of.right) / 2, (of.top + of.bottom) / 2];
      button('\u2212', 'Zoom out', () => of.by(1 / 1.6, ...middle()));
      button('+', 'Zoom in', () => of.by(1.6, ...middle()));
      button('all', 'Show all', () => { of.all(); of.draw(); });
    }
    button('SVG', 'Save as SVG', () => save(svg));
    place.before(tools);
  }
  // Where an event is, in units of a picture.
  const place_of = (svg, event) => {
    const at = svg.getBoundingClientRect(), view = svg.viewBox.baseVal;
    return [(event.clientX - at.left) * view.width / at.width, (event.clientY - at.top) * view.height / at.height];
  };
  for (const [svg, of] of zooms) {
    // The wheel scrolls the page until a picture has been clicked, or with Ctrl.
    svg.addEventListener('wheel', (event) => {
      if (!event.ctrlKey && !svg.contains(document.activeElement)) return;
      event.preventDefault();
      of.by(Math.exp(-event.deltaY / 300), ...place_of(svg, event));
    }, { passive: false });
    let from = null;
    svg.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      from = place_of(svg, event);
      const part = event.target.closest('.box, .job rect') || svg.querySelector('[tabindex="0"]');
      if (part) {
        event.preventDefault();
        enter(part);
      }
    });
    svg.addEventListener('pointermove', (event) => {
      if (!from || (of.kx === 1 && of.ky === 1)) return;
      svg.classList.add('moving');
      if (!svg.hasPointerCapture(event.pointerId)) svg.setPointerCapture(event.pointerId);
      const to = place_of(svg, event);
      of.move(from[0] - to[0], from[1] - to[1]);
      from = to;
    });
    for (const end of ['pointerup', 'pointercancel'])
      svg.addEventListener(end, () => { from = null; svg.classList.remove('moving'); });
  }

  // One stop of the tab key for each picture, and for the program; arrow keys go on from there.
  for (const svg of all(document, 'svg.time')) svg.querySelector('.job rect')?.setAttribute('tabindex', 0);
  const enter = (part) => {
    const svg = part.closest('svg'), place = svg || part.closest('table');
    for (const old of all(place, '[tabindex="0"]')) old.setAttribute('tabindex', -1);
    part.setAttribute('tabindex', 0);
    if (svg && zooms.has(svg)) zooms.get(svg).seek(part.closest('.box, .job'));
    part.focus({ preventScroll: Boolean(svg) });
    if (svg) part.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  };
  // The job that a key leads to: the next one of its lane, or the one of the next lane at its time.
  const beside = (job, key) => {
    const lane = job.closest('.lane'), jobs = all(lane, '.job rect'), at = jobs.indexOf(job);
    if (key === 'ArrowRight' || key === 'ArrowLeft') return jobs[at + (key === 'ArrowRight' ? 1 : -1)];
    if (key === 'Home' || key === 'End') return jobs.at(key === 'Home' ? 0 : -1);
    const lanes = all(job.closest('svg'), '.lane').filter((one) => one.querySelector('.job'));
    const other = lanes[lanes.indexOf(lane) + (key === 'ArrowDown' ? 1 : -1)];
    if (!other) return null;
    const piece = new Map(zooms.get(job.closest('svg')).pieces.map((one) => [one.rect, one]));
    const x = piece.get(job).x;
    return all(other, '.job rect').findLast((one) => piece.get(one).x <= x + .01) || other.querySelector('.job rect');
  };
  const step = { ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1 };
  const pans = { ArrowUp: [0, -1], ArrowRight: [1, 0], ArrowDown: [0, 1], ArrowLeft: [-1, 0] };
  const zooms_by = { '+': 1.6, '=': 1.6, '-': 1 / 1.6, 0: 0 };
  document.addEventListener('keydown', (event) => {
    if (event.key === 'Escape') return mark(null);
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const from = event.target.closest('.box, .line, .job rect');
    if (!from) return;
    const of = zooms.get(from.closest('svg'));
    if (of && event.key in zooms_by) {
      event.preventDefault();
      const now = of.pieces.find((one) => one.part === from.closest('.box, .job'));
      const middle = (low, high, a, b) => Math.max(low, Math.min(high, (a + b) / 2));
      if (event.key === '0') of.all(), of.draw();
      else of.by(zooms_by[event.key], middle(of.left, of.right, of.across(now.x), of.across(now.x + now.w)),
                 middle(of.top, of.bottom, of.down(now.y), of.down(now.y + now.h)));
      return;
    }
    if (of && event.shiftKey && pans[event.key]) {
      event.preventDefault();
      return of.move(80 * pans[event.key][0], 40 * pans[event.key][1]);
    }
    if (!step[event.key] && event.key !== 'Home' && event.key !== 'End') return;
    event.preventDefault();
    if (from.matches('.job rect')) {
      const to = beside(from, event.key);
      if (to) enter(to);
      return;
    }
    const line = from.matches('.line');
    const group = all(from.closest('svg, table'), line ? '.line' : '.box');
    // Addresses go up in a picture, lines down in the program.
    let to = group.indexOf(from) + (step[event.key] || 0) * (line ? -1 : 1);
    if (event.key === 'Home') to = 0;
    else if (event.key === 'End') to = group.length - 1;
    if (group[to]) enter(group[to]);
  });
  addEventListener('beforeprint', () => {
    for (const one of all(document, 'details')) one.open = true;
    for (const of of zooms.values()) of.all(), of.draw();
  });
})();
)js";

}  // namespace tilewright::reports
