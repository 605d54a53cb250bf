// The panel of one tensor: it reads the tensor's bytes, and shows what is in them.

import { Heat } from './heat.js';
import { Pool, pieces, plan, splits } from './plan.js';
import { plot, tabulate } from './plot.js';
import { PIECE } from './source.js';
import { count, plural, shape, show, size, value } from './text.js';
import { Refusal } from './weightview.js';

/** Elements that are read, widened and drawn at a time. */
const PIECE_ELEMENTS = 1024 * 1024;

const byId = (id) => document.getElementById(id);

/** Fills a list of facts: pairs of a name and a text. */
export function facts(list, pairs) {
    list.replaceChildren(
        ...pairs.map(([name, text]) => {
            const pair = document.createElement('div');
            const [term, detail] = ['dt', 'dd'].map((kind) => document.createElement(kind));
            term.textContent = name;
            detail.textContent = text;
            pair.append(term, detail);
            return pair;
        }),
    );
}

export class TensorPanel {
    /** The reading that goes on; one that is no longer this one ends by itself. */
    #reading = null;

    /** @param {{ dark: () => boolean, readMore: () => void }} host */
    constructor(host) {
        this.host = host;
        this.heat = new Heat(
            { map: byId('map'), scale: byId('scale'), low: byId('low'), high: byId('high'), nan: byId('nan'), readout: byId('cell') },
            { kind: () => byId('pool').value, dark: host.dark, zoom: (window) => this.#zoom(window) },
        );
        byId('cancel').addEventListener('click', () => this.#cancel());
        byId('read-all').addEventListener('click', () => this.#readAll());
        byId('bars').addEventListener('change', () => this.#drawHistogram());
        new ResizeObserver(() => this.spread && this.#drawHistogram()).observe(byId('histogram'));
        byId('pool').addEventListener('change', () => this.heat.draw());
        byId('split').addEventListener('change', () => this.#resplit());
        byId('zoom-in').addEventListener('click', () => this.heat.zoomIn());
        byId('zoom-out').addEventListener('click', () => this.heat.zoomOut());
        byId('zoom-whole').addEventListener('click', () => this.#zoom(this.#everything()));
    }

    close() {
        this.#reading = null;
        byId('detail').hidden = true;
    }

    /** Shows a tensor of a file, and reads it. */
    open(weights, source, number) {
        Object.assign(this, { weights, source, number, tensor: weights.tensor(number) });
        const { name, dtype, shape: dims, elements, begin, end, bits } = this.tensor;
        show(byId('tensor-name'), name, 2000);
        byId('map').setAttribute('aria-label', `The numbers of the tensor as colours, ${shape(dims)}`);
        facts(byId('tensor-facts'), [
            ['Dtype', `${dtype}, ${bits} bits`],
            ['Shape', shape(dims)],
            ['Elements', count(elements)],
            ['Size', this.#size()],
            ['Bytes of the file', `${count(begin)} to ${count(end)}`],
        ]);
        byId('detail').hidden = false;
        this.splits = splits(dims);
        byId('split').replaceChildren(...this.splits.map(({ rows, columns }, i) => new Option(`${count(rows)} × ${count(columns)}`, String(i))));
        byId('split-label').hidden = this.splits.length < 2;
        byId('numbers').hidden = true;
        byId('heat').hidden = true;
        this.heat.clear();
        this.split = this.splits[0];
        this.window = this.#everything();
        if (elements === 0) {
            this.#stop('It has no elements.');
            byId('sampled').hidden = true;
            byId('tensor-fault').hidden = true;
            return Promise.resolve();
        }
        return this.#read({});
    }

    /** Draws again, in other colours. */
    redraw() {
        this.heat.draw();
    }

    #everything() {
        return { top: 0, bottom: this.split.rows, left: 0, right: this.split.columns };
    }

    #resplit() {
        this.split = this.splits[Number(byId('split').value)];
        this.#zoom(this.#everything());
    }

    /** Makes another picture. The summary stays that of what was read for the first. */
    #zoom(window) {
        if (this.#reading?.summarize) this.#cancel();
        this.window = window;
        this.heat.clear();
        return this.#read({ summarize: false });
    }

    #stop(words) {
        this.#reading = null;
        byId('reading').hidden = true;
        byId('tensor-status').textContent = words;
    }

    /** Reads the whole tensor, however long that takes. */
    #readAll() {
        this.window = this.#everything();
        this.heat.clear();
        return this.#read({ whole: true });
    }

    /** Stops on request: what is there is of a part, and says so. */
    #cancel() {
        const { pool, summarize, done } = this.#reading;
        this.#stop('Stopped.');
        this.#draw(pool, summarize);
        if (summarize) this.#note(`Stopped after ${size(done)} of ${this.#size()}: this is of what was read. `);
    }

    #note(words) {
        byId('sampled').hidden = false;
        byId('sampled-text').textContent = words;
        byId('read-all').textContent = `Read all ${this.#size()}`;
    }

    #size() {
        return size(BigInt(this.tensor.end) - BigInt(this.tensor.begin));
    }

    /** Reads what the picture needs, piece by piece, and adds it up if wanted. */
    async #read({ whole = false, summarize = true }) {
        const { weights, source, number, tensor, split, window } = this;
        const block = tensor.bits < 8 ? 8 / gcd(8, tensor.bits) : 1;
        const matrix = { rows: split.rows, columns: split.columns, bits: tensor.bits, block };
        const what = plan(matrix, window, whole);
        const pool = new Pool(matrix, window, what);
        const reading = { pool, summarize, done: 0 };
        this.#reading = reading;
        this.#begin(what, summarize);
        if (summarize) weights.startSummary();
        let drawn = performance.now();
        try {
            for (const [start, end] of pieces(what.runs, PIECE_ELEMENTS)) {
                const { begin, end: behind } = weights.piece(number, start, end);
                const bytes = await source.bytes(Number(begin), Number(behind));
                if (this.#reading !== reading) return;
                pool.add(start, weights.take(number, start, end, bytes, { summary: summarize }));
                reading.done += bytes.length;
                byId('progress').value = reading.done / what.bytes;
                this.host.readMore();
                if (performance.now() - drawn > 250) {
                    this.#draw(pool, summarize);
                    drawn = performance.now();
                }
            }
        } catch (error) {
            if (this.#reading === reading) this.#fail(error);
            return;
        }
        this.#draw(pool, summarize);
        const { top, bottom, left, right } = window;
        const span = (from, to) => `${count(from)} to ${count(to - 1)}`;
        this.#stop(
            [
                `Read ${size(reading.done)}`,
                what.sampled ? ', a sample' : '',
                bottom - top === split.rows && right - left === split.columns ? '' : `, for rows ${span(top, bottom)}, columns ${span(left, right)}`,
                '.',
            ].join(''),
        );
    }

    #begin({ bytes, sampled }, summarize) {
        byId('tensor-fault').hidden = true;
        byId('reading').hidden = bytes <= PIECE;
        byId('progress').value = 0;
        byId('tensor-status').textContent = '';
        if (!summarize) return;
        byId('sampled').hidden = true;
        if (sampled) this.#note(`This is a sample: ${size(bytes)} of ${this.#size()}, spread evenly over the tensor. `);
    }

    #draw(pool, summarize) {
        if (summarize) {
            const summary = this.weights.summary();
            byId('numbers').hidden = false;
            facts(byId('summary'), [
                ['Least', value(summary.min)],
                ['Greatest', value(summary.max)],
                ['Mean', value(summary.mean)],
                ['Deviation', value(summary.std)],
                ['Zeros', count(summary.zeros)],
                ['Below 0', count(summary.negatives)],
                ['Subnormal', count(summary.subnormals)],
                ['NaN', count(summary.nans)],
                ['Infinite', count(summary.infinities)],
                ['Read', plural(summary.length, 'number')],
            ]);
            this.spread = { ...summary, bars: this.weights.histogram('bars'), octaves: this.weights.histogram('octaves') };
            this.#drawHistogram();
        }
        byId('heat').hidden = false;
        byId('pool-label').hidden = pool.high === pool.window.bottom - pool.window.top && pool.wide === pool.window.right - pool.window.left;
        this.heat.draw(pool);
    }

    #drawHistogram() {
        const kind = byId('bars').value;
        const { min, max, finite, [kind]: bins } = this.spread;
        const same = finite === 0 ? 'No number is finite.' : min === max ? `Each number is ${value(min)}.` : '';
        const drawn = same || plot(bins, kind === 'bars', Math.max(240, byId('histogram').clientWidth));
        byId('histogram').replaceChildren(drawn);
        tabulate(byId('bins').tBodies[0], bins);
    }

    #fail(error) {
        this.#stop('');
        for (const id of ['sampled', 'numbers', 'heat']) byId(id).hidden = true;
        byId('tensor-fault').hidden = false;
        byId('tensor-fault').textContent = error instanceof Refusal ? `No picture of it: ${error.message}` : String(error.message ?? error);
    }
}

function gcd(a, b) {
    return b === 0 ? a : gcd(b, a % b);
}
