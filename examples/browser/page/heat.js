// The picture of a tensor: rows by columns, a colour a cell.

import { count, value } from './text.js';

/** How large a cell is drawn, at most, and how high and wide a picture, at least and at most; in CSS pixels. */
const CELL = 20;
const LEAST = 24;
const TALL = 460;

/** From the lowest over 0 to the highest. */
const COLOURS = {
    light: { low: [23, 84, 150], zero: [246, 246, 243], high: [178, 24, 43], none: [40, 40, 44], unread: [208, 208, 204] },
    dark: { low: [96, 176, 255], zero: [26, 28, 34], high: [255, 122, 84], none: [235, 235, 120], unread: [62, 66, 76] },
};

export class Heat {
    #pool = null;
    #cell = null;

    /**
     * @param {{ map: HTMLCanvasElement, scale: HTMLCanvasElement, low: HTMLElement, high: HTMLElement, nan: HTMLElement, readout: HTMLElement }} elements
     * @param {{ kind: () => string, dark: () => boolean, zoom: (area: object | null) => void }} host
     */
    constructor(elements, host) {
        Object.assign(this, elements, { host });
        this.map.addEventListener('pointermove', (event) => this.#point(event));
        this.map.addEventListener('pointerdown', (event) => this.#point(event));
        this.map.addEventListener('dblclick', () => this.zoomIn());
        this.map.addEventListener('keydown', (event) => this.#key(event));
        new ResizeObserver(() => this.#size()).observe(this.map.parentElement);
    }

    /** Draws a pool; again as it fills, or when the colours change. */
    draw(pool = this.#pool) {
        if (pool === null) return;
        if (this.#pool?.high !== pool.high || this.#pool?.wide !== pool.wide) this.#cell = null;
        this.#pool = pool;
        const kind = this.host.kind();
        const limit = pool.limit(kind);
        [this.map.width, this.map.height] = [pool.wide, pool.high];
        const colour = this.#colours(limit);
        const { none, unread } = this.#palette();
        paint(this.map, (cell) => (pool.isRead(cell) ? colour(pool.value(cell, kind)) : unread));
        this.nan.hidden = !pool.nans.some((count) => count > 0);
        this.nan.style.setProperty('--swatch', `rgb(${none})`);
        const middle = (this.scale.width - 1) / 2;
        paint(this.scale, (cell) => colour(((cell - middle) / middle) * (limit || 1)));
        this.scale.parentElement.hidden = limit === 0;
        const beyond = pool.reaches(kind, limit) ? ['≤ ', '≥ '] : ['', ''];
        this.low.textContent = `${beyond[0]}${value(-limit, 3)}`;
        this.high.textContent = `${beyond[1]}${value(limit, 3)}`;
        this.#size();
        this.#tell();
    }

    clear() {
        [this.#pool, this.#cell] = [null, null];
        this.readout.textContent = '';
    }

    /** Looks closer at where the cell is that was pointed at, or at the middle. */
    zoomIn() {
        const pool = this.#pool;
        if (pool === null) return;
        const cell = this.#cell ?? { row: pool.high >> 1, column: pool.wide >> 1 };
        const { rows, columns } = pool.area(cell.row * pool.wide + cell.column);
        const { top, bottom, left, right } = pool.window;
        const [newTop, newBottom] = closer(top, bottom, (rows[0] + rows[1]) / 2);
        const [newLeft, newRight] = closer(left, right, (columns[0] + columns[1]) / 2);
        this.host.zoom({ top: newTop, bottom: newBottom, left: newLeft, right: newRight });
    }

    zoomOut() {
        const pool = this.#pool;
        if (pool === null) return;
        const { top, bottom, left, right } = pool.window;
        const [newTop, newBottom] = further(top, bottom, pool.matrix.rows);
        const [newLeft, newRight] = further(left, right, pool.matrix.columns);
        this.host.zoom({ top: newTop, bottom: newBottom, left: newLeft, right: newRight });
    }

    #palette() {
        return COLOURS[this.host.dark() ? 'dark' : 'light'];
    }

    #colours(limit) {
        const { low, zero, high, none } = this.#palette();
        return (number) => {
            if (Number.isNaN(number)) return none;
            const part = limit > 0 ? Math.max(-1, Math.min(1, number / limit)) : Math.sign(number);
            const end = part < 0 ? low : high;
            return zero.map((from, i) => Math.round(from + (end[i] - from) * Math.abs(part)));
        };
    }

    /** A cell is a whole number of pixels, as large as there is room for. */
    #size() {
        if (this.#pool === null) return;
        const { high, wide } = this.#pool;
        const room = this.map.parentElement.clientWidth - 2;
        const side = Math.max(1, Math.min(CELL, Math.floor(room / wide), Math.floor(TALL / high)));
        // A picture that is few cells high or wide would be a thread.
        const stretch = (cells) => Math.max(side, Math.ceil(LEAST / cells));
        this.map.style.width = `${Math.min(room, wide * stretch(wide)) + 2}px`;
        this.map.style.height = `${high * stretch(high) + 2}px`;
    }

    #point(event) {
        if (this.#pool === null) return;
        const { high, wide } = this.#pool;
        const box = this.map.getBoundingClientRect();
        const at = (place, start, length, cells) => Math.max(0, Math.min(cells - 1, Math.floor(((place - start - 1) / (length - 2)) * cells)));
        this.#cell = { row: at(event.clientY, box.top, box.height, high), column: at(event.clientX, box.left, box.width, wide) };
        this.#tell();
    }

    #key(event) {
        const pool = this.#pool;
        if (pool === null || event.altKey || event.ctrlKey || event.metaKey) return;
        const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
        if (event.key in moves) {
            const [down, right] = this.#cell === null ? [0, 0] : moves[event.key];
            const { row, column } = this.#cell ?? { row: 0, column: 0 };
            this.#cell = {
                row: Math.max(0, Math.min(pool.high - 1, row + down)),
                column: Math.max(0, Math.min(pool.wide - 1, column + right)),
            };
            this.#tell();
        } else if (event.key === '+' || event.key === '=' || event.key === 'Enter') this.zoomIn();
        else if (event.key === '-') this.zoomOut();
        else return;
        event.preventDefault();
    }

    /** Says what is in the cell. */
    #tell() {
        const pool = this.#pool;
        if (this.#cell === null) {
            this.readout.textContent = 'Point at a cell to read it.';
            return;
        }
        const cell = this.#cell.row * pool.wide + this.#cell.column;
        const { rows, columns } = pool.area(cell);
        const span = (name, [from, to]) => (to - from === 1 ? `${name} ${count(from)}` : `${name}s ${count(from)} to ${count(to - 1)}`);
        const place = `${span('row', rows)}, ${span('column', columns)}`;
        const read = count(pool.counts[cell] + pool.nans[cell]);
        if (!pool.isRead(cell)) {
            this.readout.textContent = `${place}: not read`;
            return;
        }
        if ((rows[1] - rows[0]) * (columns[1] - columns[0]) === 1) {
            this.readout.textContent = `${place}: ${value(pool.value(cell, 'largest'))}`;
        } else {
            const nans = pool.nans[cell] > 0 ? `, ${count(pool.nans[cell])} NaN` : '';
            const [largest, mean] = [pool.largest[cell], pool.sums[cell] / pool.counts[cell]].map(value);
            this.readout.textContent = `${place}: largest ${largest}, mean ${mean} of ${read}${nans}`;
        }
    }
}

function paint(canvas, colour) {
    // Made of pixels, in memory: there is nothing for a graphics processor to do.
    const context = canvas.getContext('2d', { willReadFrequently: true });
    const image = context.createImageData(canvas.width, canvas.height);
    for (let cell = 0; cell < canvas.width * canvas.height; cell++) {
        const [red, green, blue] = colour(cell);
        image.data.set([red, green, blue, 255], 4 * cell);
    }
    context.putImageData(image, 0, 0);
}

/** A quarter of a range around a place, of at least 16. */
function closer(start, end, middle) {
    const length = Math.min(end - start, Math.max(16, Math.ceil((end - start) / 4)));
    const from = Math.max(start, Math.min(end - length, Math.floor(middle - length / 2)));
    return [from, from + length];
}

/** Four times a range, within 0 to `most`. */
function further(start, end, most) {
    const length = Math.min(most, (end - start) * 4);
    const from = Math.max(0, Math.min(most - length, Math.floor((start + end - length) / 2)));
    return [from, from + length];
}
