// The module without the page: what ABI.md says, said to a computer. `node --test test/abi.test.mjs`, with
// WEIGHTVIEW_WASM the folder that the modules were built to.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { Refusal, Weights } from '../page/weightview.js';
import { entry, file, head, many, numbers } from './files.mjs';

const root = new URL('../../..', import.meta.url).pathname;
const built = process.env.WEIGHTVIEW_WASM ?? join(root, 'target/browser');
const data = process.env.WEIGHTVIEW_DATA ?? join(root, '../shared/data');
const modules = Object.fromEntries(
    ['weightview', 'weightview-parse'].map((name) => [name, new WebAssembly.Module(readFileSync(join(built, `${name}.wasm`)))]),
);
const digits = readFileSync(join(root, 'tests/data/digits.safetensors'));

/** Opens a file's head in a new instance, or the one given. */
async function open(bytes, { module = 'weightview', length = null, weights } = {}) {
    weights ??= await Weights.create(modules[module]);
    weights.head(bytes.length).set(bytes);
    weights.open(length);
    return weights;
}

/** The bare exports of a new instance. */
function bare(module = 'weightview') {
    return new WebAssembly.Instance(modules[module], {}).exports;
}

/** Lays a head into an instance; what `wv_open` says. */
function status(wasm, bytes, length = 0xffff_ffff_ffff_ffffn) {
    const at = wasm.wv_head(bytes.length) >>> 0;
    assert.notEqual(at, 0);
    new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
    return wasm.wv_open(length);
}

/** The last fault, as its record says it. */
function fault(wasm) {
    const view = new DataView(wasm.memory.buffer);
    const at = wasm.wv_error() >>> 0;
    const text = new Uint8Array(wasm.memory.buffer, view.getUint32(at + 12, true), view.getUint32(at + 16, true));
    return { byte: view.getBigUint64(at, true), code: view.getUint32(at + 8, true), text: new TextDecoder('utf-8', { fatal: true }).decode(text) };
}

const refuses = (code, byte, words) => (error) => {
    assert.ok(error instanceof Refusal, String(error));
    assert.deepEqual([error.code, error.byte], [code, byte], error.message);
    assert.match(error.message, words);
    return true;
};

for (const name of Object.keys(modules)) {
    test(`${name} needs nothing of its host`, () => {
        assert.deepEqual(WebAssembly.Module.imports(modules[name]), []);
        assert.equal(bare(name).wv_version(), 0x1_0000);
    });

    test(`${name} opens the digits`, async () => {
        const weights = await Weights.create(modules[name]);
        const length = weights.headLength(digits.subarray(0, 8));
        assert.equal(length, 1296);
        await open(digits.subarray(0, length), { weights, length: digits.length });
        assert.deepEqual([weights.count, weights.fileLength], [4, 6200]);
        const bias = { name: 'fc1.bias', dtype: 'F32', bits: 32, shape: [32], elements: 32, begin: 1296, end: 1424 };
        assert.deepEqual(weights.tensor(0), bias);
        assert.deepEqual(weights.find('fc1.bias'), bias);
        const weight = { name: 'fc1.weight', dtype: 'BF16', bits: 16, shape: [32, 64], elements: 2048, begin: 1464, end: 5560 };
        assert.deepEqual(weights.find('fc1.weight'), weight);
        assert.throws(() => weights.find('fc3.bias'), refuses(65, null, /no tensor has this name/));
        assert.throws(() => weights.tensor(4), refuses(99, null, /not as many/));
        assert.equal(weights.metadata().length, 11);
        assert.deepEqual(weights.metadata()[5], ['input', '8x8 grey pixels 0..16, row by row, divided by 16']);
    });

    test(`${name} says whether the file is whole`, async () => {
        const bytes = digits.subarray(0, 1296);
        await assert.rejects(open(bytes, { module: name, length: 6199 }), refuses(34, 1220, /6200 bytes, 6199 are there/));
        await assert.rejects(open(bytes, { module: name, length: 6201 }), refuses(35, 6200, /goes on after its last tensor/));
        await assert.rejects(open(bytes.subarray(0, 1295), { module: name, length: 6200 }), refuses(3, 1295, /ends at byte 1296/));
        await assert.rejects(open(bytes.subarray(0, 7), { module: name, length: 7 }), refuses(1, 0, /7 of the 8 bytes/));
        await assert.rejects(open(bytes.subarray(0, 0), { module: name, length: 0 }), refuses(1, 0, /0 of the 8 bytes/));
    });

    test(`${name} refuses what is broken, with code and byte`, () => {
        const wasm = bare(name);
        const a = entry('a', 'F32', 1, 0, 4);
        // Eight tensors as large as one can be, which end 8 bytes before the largest number.
        const most = 2n ** 61n - 1n;
        const eight = Array.from({ length: 8 }, (_, i) => entry(`${i}`, 'U8', most, most * BigInt(i), most * BigInt(i + 1)));
        eight[7] = eight[7].replace(/\[(?=\d+,)/, '▸[');
        // ▸ marks the byte.
        const cases = {
            5: ['{▸', '{"a"▸}', '{"a":{"dtype":"F32",▸}}', '{"▸\x01":{}}', '{"▸\\x":{}}', '{}▸x'],
            6: [`{"a":{"x":${'['.repeat(125)}▸[`],
            7: ['▸', '▸[]', '▸3', ' ▸"x"'],
            11: ['{"__metadata__":{},▸"__metadata__":{}}'],
            12: ['{"__metadata__":▸3}'],
            13: ['{"__metadata__":{"a":▸3}}'],
            14: ['{"__metadata__":{"a":"",▸"a":""}}'],
            15: [`{${a},▸${entry('a', 'F32', 1, 4, 8)}}`, `{${a},▸"\\u0061"${entry('', 'F32', 1, 4, 8).slice(2)}}`],
            16: ['{"a":▸3}', '{"a":▸["F32",[1],[0,4]]}'],
            17: ['{"a":{"dtype":"F32",▸"dtype":"F32"}}'],
            18: ['{"a":▸{"dtype":"F32","shape":[]}}'],
            19: ['{"a":{"dtype":▸3,"shape":[],"data_offsets":[0,4]}}'],
            21: [`{${a.replace('"F32"', '▸"F31"')}}`],
            22: [`{${a.replace('[1]', '[▸1.0]')}}`, `{${a.replace('[1]', '[▸-1]')}}`],
            23: [`{${a.replace('[1]', '[▸99999999999999999999]')}}`],
            24: ['{"a":{"x":▸1e308}}'],
            25: [`{${a.replace('[0,4]', '▸[0]')}}`],
            26: [`{${a.replace('[1]', `[${Array(16).fill(1)},▸1]`)}}`],
            27: [`{${a.replace('[1]', '▸[4294967296,4294967296]')}}`],
            28: [`{${a.replace('F32', 'F4').replace('[1]', '▸[1]')}}`],
            29: [`{${a.replace('[0,4]', '▸[4,0]')}}`],
            30: [`{${a.replace('[0,4]', '▸[0,5]')}}`],
            31: [`{${a.replace('[0,4]', '▸[4,8]')}}`],
            32: [`{${a},${entry('b', 'F32', 1, 0, 4).replace('[0,4]', '▸[0,4]')}}`],
33: [`{${eight}}`],
        };
        for (const [code, texts] of Object.entries(cases)) {
            for (const text of texts) {
                assert.equal(status(wasm, head(text.replace('▸', ''))), Number(code), `${code} ${text}: ${fault(wasm).text}`);
                const byte = BigInt(8 + new TextEncoder().encode(text.slice(0, text.indexOf('▸'))).length);
                assert.deepEqual([fault(wasm).code, fault(wasm).byte], [Number(code), byte], `${text}: ${fault(wasm).text}`);
                assert.match(fault(wasm).text, new RegExp(`^byte ${byte}: .{10}`));
                assert.equal(wasm.wv_count(), 0);
                assert.equal(wasm.wv_tensor(0), 97);
            }
        }
        assert.equal(status(wasm, head(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]))), 4);
        assert.equal(fault(wasm).byte, 10n);
        // After all that, the next file is as welcome as the first.
        assert.equal(status(wasm, digits.subarray(0, 1296), 6200n), 0);
        assert.equal(wasm.wv_count(), 4);
    });

    test(`${name} keeps to its limits`, async () => {
        const wasm = bare(name);
        assert.equal(wasm.wv_head_len(0n), 8n);
        assert.equal(wasm.wv_head_len(100_000_000n), 100_000_008n);
        assert.equal(wasm.wv_head_len(100_000_001n), 0n);
        assert.deepEqual([fault(wasm).code, fault(wasm).byte], [2, 0n]);
        wasm.wv_limits(2n ** 40n, 2n, 0);
        assert.equal(wasm.wv_head_len(2n ** 40n), 2n ** 40n + 8n);
        assert.equal(wasm.wv_head_len(0x6c6d_7468_213c_0a0an), 0n); // a web page
        assert.equal(status(wasm, digits.subarray(0, 1296)), 10);
        wasm.wv_limits(100_000_000n, 4n, 1);
        assert.equal(status(wasm, digits.subarray(0, 1296)), 0);
        assert.equal(status(wasm, head(' {}')), 8);
        assert.equal(status(wasm, head('{}\n')), 9);
        assert.equal(status(wasm, head('{"a":{"x":1,"dtype":"F32","shape":[1],"data_offsets":[0,4]}}')), 20);
        assert.equal(wasm.wv_head(0xffff_ffff), 0);
        assert.equal(fault(wasm).code, 96);
        assert.equal(wasm.wv_buffer(0xffff_fff0), 0);
        assert.equal(fault(wasm).code, 96);
    });

    test(`${name} judges tensors that no 32-bit memory could hold`, async () => {
        const sizes = [2 ** 29 - 1, 2 ** 29, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 2 ** 53 - 1].map(BigInt);
        sizes.push(2n ** 60n);
        let at = 0n;
        const entries = sizes.map((size, i) => entry(`t${i}`, 'U8', size, at, (at += size)));
        const bytes = file(...entries);
        const start = BigInt(bytes.length);
        const weights = await open(bytes, { module: name, length: start + at });
        assert.equal(weights.fileLength, start + at);
        at = start;
        sizes.forEach((size, i) => {
            const tensor = weights.find(`t${i}`);
            assert.deepEqual([tensor.shape, tensor.elements].flat().map(BigInt), [size, size]);
            assert.deepEqual([BigInt(tensor.begin), BigInt(tensor.end)], [at, at + size]);
            at += size;
        });
        await assert.rejects(open(bytes, { module: name, length: at - 1n }), refuses(34, Buffer.from(bytes).indexOf('"t7"'), /truncated/));
        // Without elements, but with dims over 32 bits.
        const empty = await open(file(entry('e', 'F32', `0,${2n ** 62n}`, 0, 0)), { module: name });
        assert.deepEqual(empty.tensor(0).shape, [0, 2n ** 62n]);
    });

    test(`${name} decodes names and metadata of any spelling`, async () => {
        const plain = ['', ' ', 'é', '\ufeffbom', '名前', '🦀', '__metadata', 'a'.repeat(100_000), '\u202egnp.exe', '<b>&amp;'];
        const escaped = { '\\n\\t\\"\\\\\\/\\b\\f\\r': '\n\t"\\/\b\f\r', '\\u0000': '\0', '\\ud83e\\udd80': '🦀2', '\\u00E9': 'é2' };
        const entries = [];
        const names = [];
        for (const text of plain) names.push([JSON.stringify(text), text]);
        for (const [raw, text] of Object.entries(escaped)) {
            const again = /2$/.test(text) ? '2' : '';
            names.push([`"${raw}${again}"`, text]);
        }
        names.forEach(([raw], i) => entries.push(`${raw}${entry('', 'U8', 1, i, i + 1).slice(2)}`));
        const metadata = `"__metadata__":{${names.map(([raw]) => `${raw}:${raw}`)}}`;
        const weights = await open(head(`{${entries},${metadata}}`), { module: name });
        assert.deepEqual(weights.columns().names, names.map(([, text]) => text));
        assert.deepEqual(weights.metadata(), names.map(([, text]) => [text, text]));
        for (const [i, [, text]] of names.entries()) {
            assert.equal(weights.tensor(i).name, text);
            assert.equal(weights.find(text).begin, weights.tensor(i).begin);
        }
        assert.throws(() => weights.find('é3'), refuses(65, null, /no tensor/));
    });

    test(`${name} writes as much of a text as fits, in whole characters`, async () => {
        const wasm = bare(name);
        status(wasm, head(`{"a\\u00e9🦀"${entry('', 'U8', 1, 0, 1).slice(2)}}`));
        assert.equal(wasm.wv_text(0, wasm.wv_buffer(16), 16) >>> 0, 0xffff_ffff);
        assert.equal(fault(wasm).code, 102);
        wasm.wv_tensor(0);
        const at = wasm.wv_buffer(16) >>> 0;
        assert.deepEqual([0, 1, 2, 3, 4, 6, 7, 16].map((length) => wasm.wv_text(0, at, length)), [0, 1, 1, 3, 3, 3, 7, 7]);
        assert.equal(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, at, 7)), 'aé🦀');
        assert.equal(wasm.wv_text(3, at, 16) >>> 0, 0xffff_ffff);
    });

    test(`${name} takes and writes no bytes outside the host's buffer`, () => {
        const wasm = bare(name);
        status(wasm, digits.subarray(0, 1296));
        wasm.wv_tensor(0);
        const at = wasm.wv_buffer(64) >>> 0;
        const end = wasm.memory.buffer.byteLength;
        const outside = [[0, 1], [at - 1, 1], [at - 1, 2], [end, 1], [end - 1, 2], [at, end], [at, 0xffff_ffff], [0xffff_ffff, 1], [0xffff_ffff, 0xffff_ffff], [wasm.wv_record(), 8]];
        for (const [place, length] of outside) {
            assert.equal(wasm.wv_find(place, length), 100, `${place} ${length}`);
            assert.equal(wasm.wv_text(0, place, length) >>> 0, 0xffff_ffff);
            assert.equal(fault(wasm).code, 100);
        }
        assert.equal(wasm.wv_find(at, 0), 65);
        new Uint8Array(wasm.memory.buffer, at, 2).fill(0xff);
        assert.equal(wasm.wv_find(at, 2), 101);
        assert.equal(wasm.wv_find(end - 4, 4), 65);
    });

    test(`${name} lists a million tensors, and finds any of them`, async () => {
        const { bytes, length } = many(1_000_000);
        assert.ok(bytes.length > 80_000_000);
        const weights = await open(bytes, { module: name, length });
        const columns = weights.columns();
        assert.equal(columns.count, 1_000_000);
        assert.deepEqual(columns.dtypeNames, ['F32']);
        for (const i of [0, 1, 63, 64, 65, 500_000, 999_999]) {
            const expected = { name: `model.layers.${i}.weight`, dtype: 'F32', bits: 32, shape: [1], elements: 1, begin: bytes.length + 4 * i, end: bytes.length + 4 * i + 4 };
            assert.deepEqual(weights.tensor(i), expected);
            assert.deepEqual(weights.find(expected.name), expected);
            assert.deepEqual([columns.names[i], columns.begins[i], columns.ends[i]], [expected.name, expected.begin, expected.end]);
        }
        assert.throws(() => weights.tensor(1_000_000), refuses(99, null, /not as many/));
        const one = new TextEncoder().encode(`,${entry('one more', 'F32', 1, 4_000_000, 4_000_004)}}`);
        const more = new Uint8Array(bytes.length - 1 + one.length);
        more.set(bytes);
        more.set(one, bytes.length - 1);
        more.set(head(new Uint8Array(more.length - 8)).subarray(0, 8));
        await assert.rejects(open(more, { module: name }), refuses(10, bytes.length, /more than 1000000 tensors/));
    });

    test(`${name} never traps, and goes on after any bytes`, () => {
        const random = numbers(1);
        const wasm = bare(name);
        const sound = digits.subarray(0, 1296);
        let accepted = 0;
        for (let i = 0; i < 20_000; i++) {
            const bytes = i % 4 === 0 ? head(Uint8Array.from({ length: random() % 64 }, () => random())) : Uint8Array.from(sound);
            for (let changes = i % 4 === 0 ? 0 : random() % 4; changes > 0; changes--) {
                bytes[random() % (i % 4 === 1 ? 8 : bytes.length)] = i % 4 === 2 ? sound[random() % sound.length] : random();
            }
            const cut = i % 7 === 0 ? bytes.subarray(0, random() % (bytes.length + 1)) : bytes;
            const result = status(wasm, cut, i % 3 === 0 ? 6200n : undefined);
            if (result === 0) accepted++;
            else assert.ok(result < 96 && fault(wasm).code === result && fault(wasm).text.length > 10, `${result}`);
            visit(wasm, random);
        }
        assert.ok(accepted > 100 && accepted < 15_000, `${accepted}`);
    });

    test(`${name} never traps, whatever is called with whatever`, () => {
        const random = numbers(2);
        const wasm = bare(name);
        const calls = Object.entries(wasm).filter(([, call]) => typeof call === 'function');
        assert.ok(calls.length >= 15);
        const interesting = [0, 1, 2, 3, 4, 8, 16, 64, 1296, 6200, 0x7fff_ffff, 0xffff_ffff];
        for (let i = 0; i < 50_000; i++) {
            const [call, f] = calls[random() % calls.length];
            const buffer = wasm.memory.buffer.byteLength;
            const value = () => {
                const kind = random() % 5;
                if (kind === 0) return random();
                if (kind === 1) return buffer - (random() % 8192);
                return interesting[random() % interesting.length];
            };
            // A head that is never written is not to be read: its bytes are whatever they were.
            if (call === 'wv_head') {
                assert.ok(status(wasm, i % 2 ? digits.subarray(0, 1296) : digits.subarray(0, random() % 1296)) < 96);
                continue;
            }
            if (call === 'wv_buffer') {
                f(random() % 100_000);
                continue;
            }
            const wide = ['wv_limits', 'wv_head_len', 'wv_open', 'wv_piece'].includes(call);
            f(...Array.from({ length: f.length }, (_, at) => (wide && !(call === 'wv_limits' && at === 2) ? BigInt(value()) : value())));
        }
    });
}

/** Uses all that there is of a file, found or not. */
function visit(wasm, random) {
    const at = wasm.wv_buffer(4096) >>> 0;
    for (const number of [0, 1, 5, random()]) {
        if (wasm.wv_tensor(number) === 0) {
            const record = new DataView(wasm.memory.buffer, wasm.wv_record() >>> 0);
            assert.ok(record.getUint32(24, true) <= 16 && record.getBigUint64(40, true) <= record.getBigUint64(48, true));
            const length = wasm.wv_text(0, at, 4096);
            assert.equal(wasm.wv_find(at, length), 0);
            wasm.wv_piece?.(BigInt(random() % 4), BigInt(random() % 40));
            wasm.wv_summary_add?.(at, random() % 64);
            wasm.wv_read_f32?.(at, random() % 64, at + 64, random() % 64);
        }
        wasm.wv_metadata(number);
        wasm.wv_text(1 + (random() % 2), at, random() % 4096);
    }
    wasm.wv_explain?.();
}

test('both modules say the same of any bytes', () => {
    const random = numbers(3);
    const [full, small] = Object.keys(modules).map((name) => bare(name));
    const sound = digits.subarray(0, 1296);
    for (let i = 0; i < 5_000; i++) {
        const bytes = Uint8Array.from(sound);
        for (let changes = random() % 3; changes > 0; changes--) bytes[8 + (random() % 1288)] = sound[random() % 1288];
        const results = [full, small].map((wasm) => [status(wasm, bytes, 6200n), wasm.wv_count(), wasm.wv_file_len()]);
        assert.deepEqual(results[0], results[1]);
        if (results[0][0] !== 0) assert.deepEqual(fault(full), fault(small));
    }
});

test('a header in no order takes no longer than sorting it', async () => {
    const started = performance.now();
    const { bytes, length } = many(300_000, { shuffled: true });
    const weights = await open(bytes, { length });
    assert.equal(weights.count, 300_000);
    // Without a heap it would be minutes.
    assert.ok(performance.now() - started < 30_000);
    const overlap = many(300_000, { shuffled: true }).bytes;
    overlap[overlap.lastIndexOf(0x5d) - 1] ^= 1; // the last number of an offset
    await assert.rejects(open(overlap), Refusal);
});

test('a header of 100 MB is read', async () => {
    const text = `{"__metadata__":{"a":"${'x'.repeat(100_000_000 - 26)}"}}`;
    const weights = await open(head(text.padEnd(100_000_000)));
    assert.equal(weights.metadata()[0][1].length, 100_000_000 - 26);
    assert.equal(weights.count, 0);
});

test('a fault is shown with its place', async () => {
    const bytes = file(entry('fc1.bias', 'F31', 2, 0, 8));
    await assert.rejects(open(bytes), (error) => {
        assert.equal(error.message, 'byte 29: this dtype is none of the format\'s; the file may be newer than this reader');
        assert.match(error.place, /^byte 29: .*\n {2}tensor: "fc1.bias"\n {2}header: \{"fc1.bias":\{"dtype":"F31",.*\n {31}\^$/);
        return true;
    });
    const hostile = file(entry('\u202e\u001b[31m', 'F31', 2, 0, 8));
    await assert.rejects(open(hostile), (error) => {
        assert.doesNotMatch(error.place, /\u202e|\u001b/);
        return true;
    });
});

test('numbers of every dtype are widened', async () => {
    const cases = [
        ['F32', [0, 0, 128, 63, 0, 0, 0, 192], Float32Array, [1, -2]],
        ['F16', [0, 60, 0, 192], Float32Array, [1, -2]],
        ['BF16', [128, 63, 0, 192], Float32Array, [1, -2]],
        ['F8_E4M3', [0x38, 0xc0], Float32Array, [1, -2]],
        ['F8_E5M2', [0x3c, 0xc0], Float32Array, [1, -2]],
        ['F8_E8M0', [127, 128], Float32Array, [1, 2]],
        ['F8_E4M3FNUZ', [0x40, 0xc8], Float32Array, [1, -2]],
        ['F8_E5M2FNUZ', [0x40, 0xc4], Float32Array, [1, -2]],
        ['F4', [0xc2], Float32Array, [1, -2]],
        ['BOOL', [1, 0], Float32Array, [1, 0]],
        ['I8', [1, 254], Float32Array, [1, -2]],
        ['U8', [1, 254], Float32Array, [1, 254]],
        ['I16', [1, 0, 254, 255], Float32Array, [1, -2]],
        ['U16', [1, 0, 254, 255], Float32Array, [1, 65534]],
        ['I32', [1, 0, 0, 0, 254, 255, 255, 255], Float64Array, [1, -2]],
        ['U32', [1, 0, 0, 0, 254, 255, 255, 255], Float64Array, [1, 2 ** 32 - 2]],
        ['I64', [1, 0, 0, 0, 0, 0, 0, 0, 254, ...Array(7).fill(255)], Float64Array, [1, -2]],
        ['U64', [1, 0, 0, 0, 0, 0, 0, 0, 254, ...Array(7).fill(255)], Float64Array, [1, 2 ** 64]],
        ['F64', [0, 0, 0, 0, 0, 0, 240, 63, 0, 0, 0, 0, 0, 0, 0, 192], Float64Array, [1, -2]],
    ];
    for (const [dtype, bytes, type, expected] of cases) {
        const weights = await open(file(entry('t', dtype, 2, 0, bytes.length)));
        weights.startSummary();
        const values = weights.take(0, 0, 2, Uint8Array.from(bytes), { summary: true });
        assert.ok(values instanceof type, dtype);
        assert.deepEqual([...values], expected, dtype);
        const { length, min, max, mean } = weights.summary();
        assert.deepEqual([length, min, max, mean], [2, Math.min(...expected), Math.max(...expected), (expected[0] + expected[1]) / 2], dtype);
    }
    for (const [dtype, shape, size, code, words] of [['C64', 1, 8, 128, /C64/], ['F6_E2M3', 4, 3, 128, /no defined packing/]]) {
        const weights = await open(file(entry('t', dtype, shape, 0, size)));
        const bytes = new Uint8Array(size);
        assert.throws(() => weights.take(0, 0, shape, bytes, { summary: true, values: false }), refuses(code, null, words));
        assert.throws(() => weights.take(0, 0, shape, bytes, {}), refuses(code, null, words));
    }
});

test('pieces add up to the whole', async () => {
    const weights = await open(digits.subarray(0, 1296));
    const all = (pieces) => {
        weights.startSummary();
        const values = pieces.flatMap(([start, end]) => {
            const { begin, end: behind } = weights.piece(2, start, end);
            return [...weights.take(2, start, end, digits.subarray(begin, behind), { summary: true })];
        });
        return { values, summary: weights.summary(), bins: weights.histogram('bins'), octaves: weights.histogram('octaves'), bars: weights.histogram('bars') };
    };
    const whole = all([[0, 2048]]);
    const pieces = all([[0, 1], [1, 64], [64, 64], [64, 2000], [2000, 2048]]);
    assert.deepEqual(pieces.values, whole.values);
    assert.deepEqual([pieces.bins, pieces.octaves, pieces.bars], [whole.bins, whole.octaves, whole.bars]);
    for (const bins of [whole.bins, whole.octaves, whole.bars]) assert.equal(bins.reduce((sum, bin) => sum + bin.count, 0), 2048);
    const { mean, std, ...exact } = whole.summary;
    assert.deepEqual({ ...pieces.summary, mean: 0, std: 0 }, { ...exact, mean: 0, std: 0 });
    assert.ok(Math.abs(pieces.summary.mean - mean) < 1e-12 && Math.abs(pieces.summary.std - std) < 1e-12);
    assert.equal(Math.min(...whole.values), exact.min);
    assert.throws(() => weights.piece(2, 0, 2049), refuses(131, null, /2049/));
    assert.throws(() => weights.piece(2, 2, 1), refuses(131, null, /before/));
    assert.throws(() => weights.take(2, 0, 2, new Uint8Array(3), {}), refuses(66, null, /4 bytes/));
    weights.startSummary();
    assert.deepEqual([weights.summary().length, weights.summary().min, weights.histogram('bins')], [0, NaN, []]);
    const small = await open(file(entry('t', 'F4', 4, 0, 2)));
    assert.throws(() => small.piece(0, 1, 3), refuses(132, null, /F4/));
});

test('a piece of a tensor of 5 GB', async () => {
    const bytes = file(entry('big', 'BF16', '50000,50000', 0, 5_000_000_000));
    const weights = await open(bytes, { length: bytes.length + 5_000_000_000 });
    const { begin, end } = weights.piece(0, 2_499_999_998, 2_500_000_000);
    assert.deepEqual([begin, end], [bytes.length + 4_999_999_996, bytes.length + 5_000_000_000]);
    assert.deepEqual([...weights.take(0, 2_499_999_998, 2_500_000_000, Uint8Array.of(128, 63, 0, 192), {})], [1, -2]);
});

test('bytes to read and numbers to write must not meet', () => {
    const wasm = bare();
    status(wasm, file(entry('t', 'F32', 4, 0, 16)));
    wasm.wv_tensor(0);
    const at = wasm.wv_buffer(256) >>> 0;
    assert.equal(wasm.wv_read_f32(at, 16, at + 16, 4), 0);
    assert.equal(wasm.wv_read_f32(at + 16, 16, at, 4), 0);
    assert.equal(wasm.wv_read_f32(at, 16, at + 15, 4), 100);
    assert.equal(wasm.wv_read_f32(at, 16, at + 8, 4), 100);
    assert.equal(wasm.wv_read_f32(at, 16, at, 4), 100);
    assert.equal(wasm.wv_read_f32(at, 16, at + 18, 4), 100); // misaligned
    assert.equal(wasm.wv_read_f64(at, 16, at + 20, 4), 100);
    assert.equal(wasm.wv_read_f32(at, 16, at + 16, 5), 129);
    assert.equal(wasm.wv_read_f32(at, 16, at + 16, 0xffff_ffff), 100);
    assert.equal(wasm.wv_read_f32(at + 1, 16, at + 32, 4), 0); // of any alignment
});

test('the tensors of a real model are like numpy says', { skip: !existsSync(join(data, 'safetensors')) && 'no model here' }, async () => {
    const model = readFileSync(join(data, 'safetensors/silero_vad_16k.safetensors'));
    const weights = await Weights.create(modules.weightview);
    const length = weights.headLength(model.subarray(0, 8));
    await open(model.subarray(0, length), { weights, length: model.length });
    const golden = readFileSync(join(root, 'tests/data/golden/silero_summary.txt'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
    assert.ok(golden.length > 10);
    const { names } = weights.columns();
    for (const line of golden) {
        const [name, elements, zeros, negatives, subnormals, min, max, mean, std] = line.split(/\s+/);
        const number = names.indexOf(name);
        const tensor = weights.tensor(number);
        weights.startSummary();
        weights.take(number, 0, tensor.elements, model.subarray(tensor.begin, tensor.end), { summary: true, values: false });
        const summary = weights.summary();
        assert.deepEqual([summary.length, summary.zeros, summary.negatives, summary.subnormals], [elements, zeros, negatives, subnormals].map(Number), name);
        assert.deepEqual([summary.min, summary.max], [Number(min), Number(max)], name);
        for (const [ours, theirs] of [[summary.mean, mean], [summary.std, std]]) {
            assert.ok(Math.abs(ours - Number(theirs)) <= 1e-9 * Math.max(1, Math.abs(Number(theirs))), `${name}: ${ours} ${theirs}`);
        }
    }
});
