// Which elements of a tensor to read for a picture of it, and what becomes of them. No page here: node tests it.

/** Tensors up to this many bytes are read whole. */
export const WHOLE = 128 * 1024 * 1024;

/** Of larger ones, about this much is read. */
export const SAMPLE = 32 * 1024 * 1024;

/** Cells of a picture, at most, on either side. */
export const CELLS = 256;

/** Reading across a gap is quicker than reading twice, if it is no longer. */
const GAP = 64 * 1024;

/** Ways to lay a shape out as rows and columns: how many dims make the rows. The best is first. */
export function splits(shape) {
    const dims = shape.map(Number);
    const product = (some) => some.reduce((all, dim) => all * dim, 1);
    const all = Array.from({ length: Math.max(1, dims.length - 1) }, (_, i) => {
        const rows = dims.length < 2 ? 1 : product(dims.slice(0, i + 1));
        const columns = dims.length < 2 ? product(dims) : product(dims.slice(i + 1));
        return { dims: dims.length < 2 ? 0 : i + 1, rows, columns };
    });
    const unlike = ({ rows, columns }) => Math.abs(Math.log((rows || 1) / (columns || 1)));
    return all.sort((a, b) => unlike(a) - unlike(b));
}

/**
 * What to read of a window of a matrix, and how its picture is divided.
 *
 * @param {{ rows: number, columns: number, bits: number, block: number }} matrix `block` elements fill whole bytes
 * @param {{ top: number, bottom: number, left: number, right: number }} window
 * @param {boolean} whole whether to read all of it, however much that is
 * @returns {{ high: number, wide: number, runs: [number, number][], bytes: number, sampled: boolean }} `runs` are
 *     elements from-to, ascending; the picture is `high` by `wide` cells
 */
export function plan(matrix, window, whole) {
    const { columns, bits, block } = matrix;
    const [height, width] = [window.bottom - window.top, window.right - window.left];
    const bytesOf = (elements) => Math.ceil((elements * bits) / 8);
    const between = bytesOf(columns - width) <= GAP;
    const sampled = !whole && bytesOf(height * (between ? columns : width)) > WHOLE;
    const rowTooLong = bytesOf(width) > SAMPLE / CELLS;
    const most = sampled && rowTooLong ? CELLS / 4 : CELLS;
    const [high, wide] = [Math.min(most, height), Math.min(most, width)];

    const runs = [];
    const run = (row, from, to, rows = 1) => {
        const start = row * columns + from;
        const end = (row + rows - 1) * columns + to;
        runs.push([Math.floor(start / block) * block, Math.ceil(end / block) * block]);
    };
    if (!sampled) {
        if (between) run(window.top, window.left, window.right, height);
        else for (let row = window.top; row < window.bottom; row++) run(row, window.left, window.right);
    } else {
        const share = Math.floor((SAMPLE / high) * (8 / bits)); // elements for each row of cells
        for (let i = 0; i < high; i++) {
            const [top, bottom] = [edge(window.top, height, high, i), edge(window.top, height, high, i + 1)];
            if (share >= width) {
                const rows = Math.min(bottom - top, Math.max(1, Math.floor(share / (between ? columns : width))));
                const first = top + Math.floor((bottom - top - rows) / 2);
                if (between) run(first, window.left, window.right, rows);
                else for (let row = first; row < first + rows; row++) run(row, window.left, window.right);
                continue;
            }
            const row = top + Math.floor((bottom - top) / 2);
            for (let j = 0; j < wide; j++) {
                const [left, right] = [edge(window.left, width, wide, j), edge(window.left, width, wide, j + 1)];
                const length = Math.min(right - left, Math.max(1, Math.floor(share / wide)));
                const from = left + Math.floor((right - left - length) / 2);
                run(row, from, from + length);
            }
        }
    }
    const bytes = runs.reduce((sum, [start, end]) => sum + bytesOf(end - start), 0);
    return { high, wide, runs, bytes, sampled };
}

/** Runs cut into pieces of at most so many elements, a multiple of the block. */
export function* pieces(runs, most) {
    for (const [start, end] of runs) {
        for (let at = start; at < end; at += most) yield [at, Math.min(end, at + most)];
    }
}

/** Where cell `i` of `cells` over `length` begins. */
function edge(start, length, cells, i) {
    return start + Math.floor((i * length) / cells);
}

/** The cells of a picture: of all numbers that fall into one, the largest in magnitude, and their mean. */
export class Pool {
    /** As `plan` has them. */
    constructor(matrix, window, { high, wide }) {
        Object.assign(this, { matrix, window, high, wide });
        this.largest = new Float64Array(high * wide).fill(NaN);
        this.sums = new Float64Array(high * wide);
        this.counts = new Float64Array(high * wide);
        this.nans = new Float64Array(high * wide);
    }

    /** Takes the elements from `start` on. What is outside of the window is left out. */
    add(start, values) {
        const { columns } = this.matrix;
        const { top, bottom, left, right } = this.window;
        let at = 0;
        while (at < values.length) {
            const row = Math.floor((start + at) / columns);
            const column = start + at - row * columns;
            const length = Math.min(columns - column, values.length - at);
            const from = Math.max(column, left);
            const to = Math.min(column + length, right);
            if (row >= top && row < bottom && from < to) this.#addRow(row, from, to, values, at + from - column);
            at += length;
        }
    }

    #addRow(row, from, to, values, at) {
        const { left, right, top, bottom } = this.window;
        const i = cellOf(row - top, bottom - top, this.high);
        let j = cellOf(from - left, right - left, this.wide);
        let column = from;
        while (column < to) {
            const end = Math.min(to, edge(left, right - left, this.wide, j + 1));
            this.#addCell(i * this.wide + j, values, at, at + end - column);
            at += end - column;
            column = end;
            j++;
        }
    }

    #addCell(cell, values, from, to) {
        let largest = this.largest[cell];
        let sum = 0;
        let nans = 0;
        let finite = 0;
        for (let i = from; i < to; i++) {
            const value = values[i];
            if (!(Math.abs(value) <= Math.abs(largest))) {
                if (value === value) largest = value;
                else nans++;
            }
            if (value - value === 0) {
                sum += value;
                finite++;
            }
        }
        this.largest[cell] = largest;
        this.sums[cell] += sum;
        this.counts[cell] += finite;
        this.nans[cell] += nans;
    }

    /** Whether any number of the cell was read. */
    isRead(cell) {
        return this.nans[cell] > 0 || !Number.isNaN(this.largest[cell]);
    }

    /** What a cell shows: NaN when a NaN is in it, or nothing was read. The mean is of the finite numbers, if any. */
    value(cell, kind) {
        if (this.nans[cell] > 0) return NaN;
        return kind === 'mean' && this.counts[cell] > 0 ? this.sums[cell] / this.counts[cell] : this.largest[cell];
    }

    /** The rows and columns that a cell covers. */
    area(cell) {
        const { top, bottom, left, right } = this.window;
        const [i, j] = [Math.floor(cell / this.wide), cell % this.wide];
        const side = (start, end, cells, at) => [edge(start, end - start, cells, at), edge(start, end - start, cells, at + 1)];
        return { rows: side(top, bottom, this.high, i), columns: side(left, right, this.wide, j) };
    }

    /** The magnitude at which colours end: nearly the largest, so that a few outliers do not darken all the rest. */
    limit(kind) {
        const magnitudes = [];
        for (let cell = 0; cell < this.largest.length; cell++) {
            const magnitude = Math.abs(this.value(cell, kind));
            if (Number.isFinite(magnitude)) magnitudes.push(magnitude);
        }
        magnitudes.sort((a, b) => a - b);
        const near = magnitudes[Math.floor((magnitudes.length - 1) * 0.995)] ?? 0;
        return near > 0 ? near : (magnitudes.at(-1) ?? 0);
    }

    /** Whether a cell is beyond the magnitude at which colours end. */
    reaches(kind, limit) {
        return this.largest.some((_, cell) => Math.abs(this.value(cell, kind)) > limit);
    }
}

/** The cell that `at` falls into: the inverse of `edge`. */
function cellOf(at, length, cells) {
    return Math.floor(((at + 1) * cells - 1) / length);
}
