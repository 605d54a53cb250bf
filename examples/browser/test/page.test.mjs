// The parts of the page that need no page: `node --test test/page.test.mjs`.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { toImage } from '../page/digit.js';
import { Listing } from '../page/listing.js';
import { CELLS, Pool, SAMPLE, WHOLE, pieces, plan, splits } from '../page/plan.js';
import { plain, shape, size, value } from '../page/text.js';
import { numbers } from './files.mjs';

const whole = ({ rows, columns }) => ({ top: 0, bottom: rows, left: 0, right: columns });

test('shapes are laid out as near to a square as they can be', () => {
    const best = (dims) => [splits(dims)[0].rows, splits(dims)[0].columns];
    assert.deepEqual(best([]), [1, 1]);
    assert.deepEqual(best([7]), [1, 7]);
    assert.deepEqual(best([32, 64]), [32, 64]);
    assert.deepEqual(best([64, 64, 3, 3]), [64, 576]);
    assert.deepEqual(best([258, 1, 256]), [258, 256]);
    assert.equal(splits([2, 3, 4, 5]).length, 3);
    for (const { rows, columns } of splits([2, 3, 4, 5])) assert.equal(rows * columns, 120);
});

test('a plan reads every element of a small tensor, once', () => {
    const random = numbers(4);
    for (let i = 0; i < 300; i++) {
        const matrix = { rows: 1 + (random() % 600), columns: 1 + (random() % 600), bits: 32, block: 1 };
        const side = (length) => {
            const [a, b] = [random() % length, random() % length].sort((a, b) => a - b);
            return [a, b + 1];
        };
        const [[top, bottom], [left, right]] = i % 2 ? [side(matrix.rows), side(matrix.columns)] : [[0, matrix.rows], [0, matrix.columns]];
        const window = { top, bottom, left, right };
        const what = plan(matrix, window, false);
        assert.equal(what.sampled, false);
        const pool = new Pool(matrix, window, what);
        for (const [start, end] of pieces(what.runs, 1 + (random() % 5000))) {
            pool.add(start, Float32Array.from({ length: end - start }, (_, at) => start + at));
        }
        // The slow twin: cell by cell, element by element.
        assert.deepEqual([what.high, what.wide], [Math.min(CELLS, bottom - top), Math.min(CELLS, right - left)]);
        let seen = 0;
        for (let cell = 0; cell < what.high * what.wide; cell += 1 + (random() % 50)) {
            const { rows, columns } = pool.area(cell);
            let [sum, count, largest] = [0, 0, -1];
            for (let row = rows[0]; row < rows[1]; row++) {
                for (let column = columns[0]; column < columns[1]; column++) {
                    const number = row * matrix.columns + column;
                    [sum, count, largest] = [sum + number, count + 1, Math.max(largest, number)];
                }
            }
            assert.ok(count > 0);
            assert.deepEqual([pool.sums[cell], pool.counts[cell], pool.largest[cell]], [sum, count, largest]);
            seen++;
        }
        assert.ok(seen > 0);
        assert.equal(pool.counts.reduce((sum, count) => sum + count, 0), (bottom - top) * (right - left));
    }
});

test('a plan reads a sample of a large tensor, from all over it', () => {
    const matrices = [
        { rows: 50_000, columns: 50_000, bits: 16, block: 1 },
        { rows: 1, columns: 2_000_000_000, bits: 32, block: 1 },
        { rows: 2_000_000_000, columns: 1, bits: 32, block: 1 },
        { rows: 3, columns: 1_000_000_000, bits: 8, block: 1 },
        { rows: 100_000, columns: 99_998, bits: 4, block: 2 },
        { rows: 1000, columns: 1_000_001, bits: 64, block: 1 },
    ];
    for (const matrix of matrices) {
        const what = plan(matrix, whole(matrix), false);
        assert.ok(what.sampled && what.bytes <= SAMPLE * 1.05 && what.bytes > SAMPLE / 40, `${matrix.rows} ${what.bytes}`);
        assert.ok(what.runs.length <= 70 * 70);
        const read = new Uint8Array(what.high * what.wide);
        const pool = new Pool(matrix, whole(matrix), what);
        let last = 0;
        for (const [start, end] of what.runs) {
            assert.ok(start >= last && end > start && end <= matrix.rows * matrix.columns);
            assert.deepEqual([start % matrix.block, end % matrix.block], [0, 0]);
            last = end;
            pool.add(start, new Float32Array(Math.min(end - start, 4)));
            pool.add(Math.max(start, end - 4), new Float32Array(Math.min(end - start, 4)));
        }
        for (let cell = 0; cell < read.length; cell++) read[cell] = pool.isRead(cell) ? 1 : 0;
        const rows = Array.from({ length: what.high }, (_, i) => read.subarray(i * what.wide, (i + 1) * what.wide).some(Boolean));
        assert.ok(rows.every(Boolean));
        const all = plan(matrix, whole(matrix), true);
        assert.deepEqual([all.sampled, all.runs], [false, [[0, matrix.rows * matrix.columns]]]);
    }
    const corner = { top: 49_000, bottom: 49_016, left: 1, right: 17 };
    const close = plan(matrices[0], corner, false);
    assert.deepEqual([close.sampled, close.runs.length, close.bytes], [false, 16, 16 * 16 * 2]);
    assert.ok(WHOLE > SAMPLE);
});

test('a pool keeps the largest, the mean, and every NaN', () => {
    const matrix = { rows: 1, columns: 5 * CELLS, bits: 32, block: 1 };
    const what = plan(matrix, whole(matrix), false);
    const pool = new Pool(matrix, whole(matrix), what);
    pool.add(0, Float32Array.of(1, -3, 2, 0, 0, /**/ 1, NaN, 9, 0, 0, /**/ -Infinity, 1, 2, 3, 4, /**/ Infinity, Infinity, Infinity, Infinity, Infinity));
    assert.deepEqual([0, 1, 2, 3].map((cell) => pool.value(cell, 'largest')), [-3, NaN, -Infinity, Infinity]);
    assert.deepEqual([0, 1, 2, 3].map((cell) => pool.value(cell, 'mean')), [0, NaN, 2.5, Infinity]);
    assert.deepEqual([0, 1, 2, 3, 4].map((cell) => pool.isRead(cell)), [true, true, true, true, false]);
    assert.equal(pool.limit('largest'), 3);
    assert.equal(pool.reaches('largest', 3), true);
});

test('a listing filters and sorts', () => {
    const names = ['layers.10.W', 'layers.2.w', 'Embed', 'layers.2.b'];
    const columns = {
        count: 4,
        names,
        dtypeNames: ['F32', 'BF16'],
        dtypes: Uint8Array.of(0, 1, 1, 0),
        elements: Float64Array.of(5, 4, 9, 4),
        begins: Float64Array.of(0, 20, 28, 46),
        ends: Float64Array.of(20, 28, 46, 62),
    };
    const listing = new Listing(columns);
    const shown = (wanted) => {
        listing.apply(wanted);
        return [...listing.shown].map((i) => names[i]);
    };
    assert.deepEqual(shown({}), names);
    assert.deepEqual(shown({ descending: true }), [...names].reverse());
    assert.deepEqual(shown({ order: 'name' }), ['Embed', 'layers.2.b', 'layers.2.w', 'layers.10.W']);
    assert.deepEqual(shown({ order: 'name', descending: true }), ['layers.10.W', 'layers.2.w', 'layers.2.b', 'Embed']);
    assert.deepEqual(shown({ order: 'dtype' }), ['layers.2.w', 'Embed', 'layers.10.W', 'layers.2.b']);
    assert.deepEqual(shown({ order: 'shape' }), ['layers.2.w', 'layers.2.b', 'layers.10.W', 'Embed']);
    assert.deepEqual(shown({ order: 'size', descending: true }), ['layers.10.W', 'Embed', 'layers.2.b', 'layers.2.w']);
    assert.deepEqual(shown({ words: 'W LAYERS' }), ['layers.10.W', 'layers.2.w']);
    assert.equal(listing.bytes(), 28);
    assert.deepEqual(shown({ words: '.2.', dtype: 'BF16' }), ['layers.2.w']);
    assert.deepEqual(shown({ words: 'nothing' }), []);
    assert.deepEqual(shown({ dtype: 'F16' }), []);
});

test('numbers and names are shown as a person reads them', () => {
    assert.deepEqual([0, 1, 999, 1000, 999_500, 5_000_000_000, 2n ** 60n].map(size), ['0 bytes', '1 byte', '999 bytes', '1.00 kB', '1.00 MB', '5.00 GB', '1.15 EB']);
    assert.deepEqual([0, -2, 1234567, 0.1, -1 / 3, 1e-30, 1e300, NaN, -Infinity].map(value), ['0', '−2', '1,234,567', '0.1', '−0.333333', '1e−30', '1e300', 'NaN', '−∞']);
    assert.deepEqual([[], [3], [3, 2n ** 60n]].map(shape), ['scalar', '3', '3 × 1152921504606846976']);
    assert.equal(plain('a\n\u202eb\u001b[31m\0🦀é'), 'a\\n\\u{202e}b\\u{1b}[31m\\0🦀é');
    assert.equal(plain(''), '(empty)');
    assert.equal(plain('x'.repeat(1000), 10), 'x'.repeat(10));
});

test('a drawing fills the height, and has as much ink as the digits that the model knows', () => {
    const strokes = [[{ x: 100, y: 40 }, { x: 160, y: 40 }, { x: 120, y: 180 }]];
    const image = toImage(strokes);
    assert.equal(image.length, 64);
    assert.ok(image.every((pixel) => Number.isInteger(pixel) && pixel >= 0 && pixel <= 16));
    const ink = image.reduce((sum, pixel) => sum + pixel, 0);
    assert.ok(ink > 250 && ink < 330, `${ink}`);
    for (let row = 0; row < 8; row++) assert.ok(image.subarray(8 * row, 8 * row + 8).some((pixel) => pixel > 0), `row ${row}`);
    // Where it is drawn, and how large, makes no difference.
    const moved = strokes.map((stroke) => stroke.map(({ x, y }) => ({ x: 3 * x + 50, y: 3 * y - 7 })));
    assert.deepEqual(toImage(moved), image);
    assert.ok(toImage([]).every((pixel) => pixel === 0));
    assert.ok(toImage([[{ x: 5, y: 5 }]]).some((pixel) => pixel > 0));
    assert.ok(toImage([[{ x: 5, y: 5 }, { x: 90, y: 5 }]]).some((pixel) => pixel > 0));
});
