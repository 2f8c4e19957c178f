# SPDX-License-Identifier: Apache-2.0
"""The script of the report's page: it sorts tables and draws the timeline. All else of the page works without it."""

SCRIPT = r"""
"use strict";
for (const table of document.querySelectorAll("table[data-sorts]")) {
  const body = table.tBodies[0];
  table.querySelectorAll("th button").forEach(button => button.addEventListener("click", () => {
    const head = button.parentElement, column = head.cellIndex;
    const down = head.getAttribute("aria-sort") !== "descending";
    const value = row => { const cell = row.cells[column]; return cell.dataset.value === undefined ? cell.textContent : +cell.dataset.value; };
    const rows = [...body.rows].sort((a, b) => {
      const x = value(a), y = value(b);
      return typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
    });
    if (down) rows.reverse();
    table.querySelectorAll("th").forEach(each => each.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  }));
}

const source = document.getElementById("timeline-data");
if (source) timeline(JSON.parse(source.textContent));

function timeline(data) {
  const LANE = 17, GAP = 12, AXIS = 26, MEMORY = 40, LEAST = 0.05;  // pixels; microseconds that are shown at least
  const view = document.getElementById("view"), canvas = view.querySelector("canvas"), tip = document.getElementById("tip");
  const context = canvas.getContext("2d");
  const margin = Math.max(data.length * 0.01, 1), whole = [-margin, data.length + margin];
  let range = [...whole], width = 0, gutter = 0, rows = [], colours = {}, drag = null, frame = 0;

  function layout() {
    width = view.clientWidth;
    gutter = width < 640 ? 8 : 196;
    rows = [];
    let y = AXIS;
    for (const track of data.tracks) {
      const head = gutter < 100 ? 16 : 0;
      rows.push({track, y: y + head, label: gutter < 100 ? y + 11 : y + 12});
      y += head + (track.memory ? MEMORY : track.lanes.length * LANE) + GAP;
    }
    const ratio = window.devicePixelRatio || 1;
    canvas.style.height = y + "px";
    canvas.width = width * ratio;
    canvas.height = y * ratio;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    const style = getComputedStyle(document.documentElement);
    for (const name of ["back", "text", "soft", "edge", "over", "inside", "program", "cpu", "device", "transfers", "start", "dispatch", "faults"])
      colours[name] = style.getPropertyValue("--" + name).trim();
    draw();
  }

  const scale = () => (width - gutter) / (range[1] - range[0]);
  const place = time => gutter + (time - range[0]) * scale();
  const timeAt = x => range[0] + (x - gutter) / scale();

  function words(us) {
    const size = Math.abs(us);
    const [unit, name] = size >= 1e6 ? [1e6, "s"] : size >= 1e3 ? [1e3, "ms"] : [1, "us"];
    return +(us / unit).toPrecision(4) + " " + name;
  }

  function axis(height) {
    const about = 110 / scale(), power = 10 ** Math.floor(Math.log10(about));
    const step = [1, 2, 5, 10].map(each => each * power).find(each => each >= about);
    context.fillStyle = colours.soft;
    context.strokeStyle = colours.edge;
    for (let time = Math.ceil(range[0] / step) * step; time <= range[1]; time += step) {
      const x = Math.round(place(time)) + 0.5;
      if (x < gutter) continue;
      context.beginPath(); context.moveTo(x, AXIS - 6); context.lineTo(x, height); context.stroke();
      if (x + 60 < width) context.fillText(words(Math.abs(time) < step / 2 ? 0 : time), x + 3, 14);
    }
  }

  function firstAt(events, time) {  // index of the first event that ends after the time
    let low = 0, high = events.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (events[middle][0] + events[middle][1] < time) low = middle + 1; else high = middle;
    }
    return low;
  }

  function drawLane(events, y, kind) {
    let drawn = -1;
    for (let k = firstAt(events, range[0]); k < events.length && events[k][0] < range[1]; k++) {
      const [begin, length, name, , own] = events[k];
      const left = Math.max(place(begin), gutter), right = Math.min(Math.max(place(begin + length), place(begin) + 1), width);
      if (right <= drawn + 0.4 || right < gutter) continue;
      context.fillStyle = colours[own || kind];
      context.fillRect(left, y, Math.max(right - left, 1), LANE - 2);
      drawn = right;
      if (right - left < 34) continue;
      context.save();
      context.beginPath(); context.rect(left, y, right - left - 3, LANE - 2); context.clip();
      context.fillStyle = colours.inside;
      context.fillText(data.strings[name], left + 4, y + 11.5);
      context.restore();
    }
  }

  function drawMemory(points, y) {
    const most = Math.max(...points.map(point => point[1]), 1);
    const high = bytes => y + MEMORY - (MEMORY - 4) * bytes / most;
    context.fillStyle = colours.device;
    context.globalAlpha = 0.35;
    context.beginPath();
    context.moveTo(gutter, y + MEMORY);
    let last = 0;
    for (const [time, bytes] of points) {
      const x = Math.min(Math.max(place(time), gutter), width);
      context.lineTo(x, high(last)); context.lineTo(x, high(bytes));
      last = bytes;
    }
    context.lineTo(width, high(last)); context.lineTo(width, y + MEMORY);
    context.fill();
    context.globalAlpha = 1;
  }

  function draw() {
    frame = 0;
    const height = parseFloat(canvas.style.height);
    context.clearRect(0, 0, width, height);
    context.font = "11.5px system-ui, sans-serif";
    rows.forEach(({track, y}, k) => {
      if (k % 2 || gutter < 100) return;
      context.fillStyle = colours.over;
      context.globalAlpha = 0.45;
      context.fillRect(0, y - GAP / 2, width, (track.memory ? MEMORY : track.lanes.length * LANE) + GAP);
      context.globalAlpha = 1;
    });
    axis(height);
    for (const {track, y, label} of rows) {
      if (track.memory) drawMemory(track.memory, y);
      else track.lanes.forEach((lane, k) => drawLane(lane, y + k * LANE, track.kind));
      context.fillStyle = colours.text;
      context.fillText(track.name, 10, label, gutter < 100 ? width : gutter - 16);
    }
  }

  const later = () => { if (!frame) frame = requestAnimationFrame(draw); };

  function set(begin, end) {
    const least = Math.max(end - begin, LEAST), most = whole[1] - whole[0];
    const length = Math.min(least, most);
    begin = Math.min(Math.max(begin, whole[0]), whole[1] - length);
    range = [begin, begin + length];
    later();
  }

  function zoom(factor, time) { set(time - (time - range[0]) * factor, time + (range[1] - time) * factor); }
  const middle = () => (range[0] + range[1]) / 2;
  const pan = share => { const by = (range[1] - range[0]) * share; set(range[0] + by, range[1] + by); };

  function found(x, y) {
    if (x < gutter) return null;
    const time = timeAt(x), near = 2 / scale();
    for (const {track, y: top} of rows) {
      if (track.memory) {
        if (y < top || y > top + MEMORY) continue;
        const before = track.memory.filter(point => point[0] <= time).pop();
        return {name: "device memory", lines: [((before ? before[1] : 0) / 1048576).toFixed(1) + " MiB"]};
      }
      const lane = track.lanes[Math.floor((y - top) / LANE)];
      if (!lane || y < top) continue;
      const event = lane[firstAt(lane, time - near)];
      if (!event || event[0] > time + near) return null;
      return {name: data.strings[event[2]], lines: [track.name, words(event[1]) + " at " + words(event[0]), data.strings[event[3]]]};
    }
    return null;
  }

  function show(event) {
    const box = canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    const hit = drag ? null : found(x, y);
    tip.hidden = !hit;
    if (!hit) return;
    const title = document.createElement("b");
    title.textContent = hit.name;
    tip.replaceChildren(title, ...hit.lines.filter(Boolean).map(text => { const line = document.createElement("div"); line.textContent = text; return line; }));
    tip.style.left = Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 6)) + "px";
    tip.style.top = Math.max(4, Math.min(y + 14, box.height - tip.offsetHeight - 6)) + "px";
  }

  canvas.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.shiftKey && !event.metaKey) return;  // the page scrolls
    event.preventDefault();
    if (event.shiftKey) pan((event.deltaY || event.deltaX) / 1000);
    else zoom(Math.exp(event.deltaY / 300), timeAt(event.clientX - canvas.getBoundingClientRect().left));
  }, {passive: false});
  canvas.addEventListener("pointerdown", event => { drag = {x: event.clientX, range: [...range]}; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener("pointermove", event => {
    if (drag) { const by = (drag.x - event.clientX) / scale(); set(drag.range[0] + by, drag.range[1] + by); }
    show(event);
  });
  canvas.addEventListener("pointerup", () => { drag = null; });
  canvas.addEventListener("pointercancel", () => { drag = null; });
  canvas.addEventListener("pointerleave", () => { tip.hidden = true; });
  canvas.addEventListener("dblclick", event => zoom(0.4, timeAt(event.clientX - canvas.getBoundingClientRect().left)));
  canvas.addEventListener("keydown", event => {
    const action = {"+": () => zoom(0.6, middle()), "=": () => zoom(0.6, middle()), "-": () => zoom(1 / 0.6, middle()), "0": () => set(...whole),
                    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2)}[event.key];
    if (action) { event.preventDefault(); action(); }
  });
  document.getElementById("closer").addEventListener("click", () => zoom(0.5, middle()));
  document.getElementById("farther").addEventListener("click", () => zoom(2, middle()));
  document.getElementById("all").addEventListener("click", () => set(...whole));
  window.addEventListener("resize", layout);
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", layout);
  layout();
}
"""
