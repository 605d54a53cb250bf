// A histogram as a drawing, and as a table.

import { count, value } from './text.js';

const TALL = 180;
const EDGE = { left: 8, right: 8, top: 16, bottom: 22 };

/** Draws bins, each a bar. Those of one width stand where they lie; powers of two stand side by side. */
export function plot(bins, even, wide) {
    const svg = make('svg', { viewBox: `0 0 ${wide} ${TALL}`, class: 'plot', role: 'img', 'aria-label': describe(bins) });
    if (bins.length === 0) return svg;
    const most = bins.reduce((most, bin) => Math.max(most, bin.count), 0);
    const [inner, base] = [wide - EDGE.left - EDGE.right, TALL - EDGE.bottom];
    const [low, high] = [bins[0].low, bins.at(-1).high];
    const along = (x) => (Number.isFinite(high - low) && high > low ? (x - low) / (high - low) : 0.5);
    bins.forEach((bin, i) => {
        const [from, to] = even ? [along(bin.low), along(bin.high)] : [i / bins.length, (i + 1) / bins.length];
        const height = bin.count === 0 ? 0 : Math.max(1, ((base - EDGE.top) * bin.count) / most);
        const bar = make('rect', {
            class: 'bar',
            x: EDGE.left + from * inner + 0.5,
            y: base - height,
            width: Math.max(1, (to - from) * inner - 1),
            height,
        });
        bar.append(make('title', {}, `${interval(bin)}: ${count(bin.count)}`));
        svg.append(bar);
    });
    svg.append(make('line', { class: 'axis', x1: EDGE.left, x2: wide - EDGE.right, y1: base + 0.5, y2: base + 0.5 }));
    const text = (x, y, anchor, words) => svg.append(make('text', { x, y, 'text-anchor': anchor }, words));
    text(EDGE.left, TALL - 6, 'start', value(low));
    text(wide - EDGE.right, TALL - 6, 'end', value(high));
    const zero = even ? along(0) : (bins.findIndex((bin) => bin.low >= 0) + 0.5 * (bins.some((bin) => bin.low === 0 && bin.high === 0) ? 1 : 0)) / bins.length;
    if (low < 0 && high > 0 && zero > 0.12 && zero < 0.88) {
        const x = EDGE.left + zero * inner;
        svg.append(make('line', { class: 'axis', x1: x, x2: x, y1: base, y2: base + 5 }));
        text(x, TALL - 6, 'middle', '0');
    }
    text(EDGE.left, 10, 'start', `the fullest bar: ${count(most)}`);
    return svg;
}

/** Fills the body of a table with bins. */
export function tabulate(body, bins) {
    body.replaceChildren(
        ...bins.map((bin) => {
            const row = document.createElement('tr');
            for (const text of [value(bin.low), value(bin.high), count(bin.count)]) row.insertCell().textContent = text;
            return row;
        }),
    );
}

function describe(bins) {
    if (bins.length === 0) return 'No finite numbers';
    const fullest = bins.reduce((fullest, bin) => (bin.count > fullest.count ? bin : fullest));
    return `Histogram of ${bins.length} bars, from ${value(bins[0].low)} to ${value(bins.at(-1).high)}; the fullest, ${interval(fullest)}, has ${count(fullest.count)} numbers`;
}

function interval(bin) {
    return bin.low === bin.high ? value(bin.low) : `${value(bin.low)} to ${value(bin.high)}`;
}

function make(name, attributes, text = '') {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const [key, setting] of Object.entries(attributes)) element.setAttribute(key, String(setting));
    element.textContent = text;
    return element;
}
