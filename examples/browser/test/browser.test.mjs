// The page, driven in a real browser: `node --test test/browser.test.mjs`, with
//
// WEIGHTVIEW_PAGE     the folder that `build` made
// WEIGHTVIEW_MODULES  a folder whose node_modules has playwright-core
// WEIGHTVIEW_CHROMIUM the browser, if it is not /usr/bin/chromium
// WEIGHTVIEW_SHOTS    where to put pictures of the page
// WEIGHTVIEW_DATA     real models

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { entry, file, head, many } from './files.mjs';
import { serve } from './serve.mjs';
import { DIGITS } from './strokes.mjs';

const root = new URL('../../..', import.meta.url).pathname;
const data = process.env.WEIGHTVIEW_DATA ?? join(root, '../shared/data');
const shots = process.env.WEIGHTVIEW_SHOTS;
const { chromium } = createRequire(join(process.env.WEIGHTVIEW_MODULES, 'package.json'))('playwright-core');
const digits = readFileSync(join(root, 'tests/data/digits.safetensors'));

/** Files that are made for a test, most of them sparse. */
const folder = mkdtempSync(join(tmpdir(), 'weightview-'));
let browser;
let site;

before(async () => {
    site = await serve(process.env.WEIGHTVIEW_PAGE);
    browser = await chromium.launch({
        executablePath: process.env.WEIGHTVIEW_CHROMIUM ?? '/usr/bin/chromium',
        args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    if (shots) mkdirSync(shots, { recursive: true });
});

after(async () => {
    await browser?.close();
    site?.server.close();
    rmSync(folder, { recursive: true });
});

/** Runs a test with a new page, on which nothing may go wrong that nobody sees. */
function inPage(name, options, run) {
    if (run === undefined) [options, run] = [{}, options];
    const { skip = false, ...settings } = options;
    test(name, { skip, timeout: 240_000 }, async () => {
        const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...settings });
        try {
            const page = await context.newPage();
            const wrong = [];
            page.on('pageerror', (error) => wrong.push(error.stack));
            page.on('console', (message) => ['error', 'warning'].includes(message.type()) && wrong.push(message.text()));
            page.on('request', (request) => request.url().startsWith(site.address) || wrong.push(request.url()));
            page.on('dialog', (dialog) => wrong.push(dialog.message()));
            await page.goto(site.address);
            await run(page, context);
            assert.deepEqual(wrong, []);
        } finally {
            await context.close();
        }
    });
}

/** Writes a file of that length, which has a head and else no bytes at all. */
function write(name, bytes, length = bytes.length) {
    const path = join(folder, name);
    writeFileSync(path, bytes);
    if (length > bytes.length) truncateSync(path, length);
    return path;
}

/** Gives the page a file, and waits until it is opened. */
async function open(page, path) {
    await page.setInputFiles('#file', path);
    await page.waitForFunction((name) => document.querySelector('#status').textContent.startsWith(`Opened ${name}`), path.split('/').at(-1));
}

async function openDigits(page) {
    await page.click('#sample');
    await page.waitForFunction(() => document.querySelector('#status').textContent.startsWith('Opened digits'));
}

/** Looks into a tensor, and waits until it is read. */
async function look(page, name) {
    await page.locator('.all .row', { has: page.locator('.name', { hasText: new RegExp(`^${name}$`) }) }).click();
    await page.waitForFunction((name) => document.querySelector('#tensor-name').textContent === name && /^Read/.test(document.querySelector('#tensor-status').textContent), name);
}

const text = (page, selector) => page.locator(selector).innerText();
const rows = (page) => page.locator('.all .row').evaluateAll((rows) => rows.sort((a, b) => a.dataset.place - b.dataset.place).map((row) => [...row.children].map((cell) => cell.textContent)));
const names = async (page) => (await rows(page)).map(([name]) => name);
const read = (page) => page.locator('#facts [data-read]').getAttribute('data-read').then(Number);
const factsOf = (page, list) => page.locator(`${list} > div`).evaluateAll((pairs) => Object.fromEntries(pairs.map((pair) => [pair.children[0].textContent, pair.children[1].textContent])));
const shot = async (page, name, settings = { fullPage: true }) => shots && page.screenshot({ path: join(shots, `${name}.png`), ...settings });
/** The page's way to write a number, but for its sign. */
const number = (shown) => Number(shown.replace('−', '-').replaceAll(',', ''));

/** The colours of cells of the heat map. */
const pixels = (page, cells) =>
    page.locator('#map').evaluate((map, cells) => cells.map(([row, column]) => [...map.getContext('2d').getImageData(column, row, 1, 1).data]), cells);

/** The numbers of a BF16 tensor of the digits. */
function bf16(begin, end) {
    const bytes = new DataView(digits.buffer, digits.byteOffset + begin, end - begin);
    return Float32Array.from({ length: (end - begin) / 2 }, (_, i) => new Float32Array(Uint32Array.of(bytes.getUint16(2 * i, true) << 16).buffer)[0]);
}

/** Draws strokes with the mouse. */
async function draw(page, strokes) {
    await page.locator('#paper').scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator('#paper').boundingBox();
    for (const stroke of strokes) {
        const [start, ...rest] = stroke.map(([across, down]) => [x + across * width, y + down * height]);
        await page.mouse.move(...start);
        await page.mouse.down();
        for (const point of rest) await page.mouse.move(...point, { steps: 3 });
        await page.mouse.up();
    }
}

inPage('the digits model: table, metadata, facts', async (page) => {
    await openDigits(page);
    assert.deepEqual(await rows(page), [
        ['fc1.bias', 'F32', '32', '128 bytes'],
        ['fc2.bias', 'F32', '10', '40 bytes'],
        ['fc1.weight', 'BF16', '32 × 64', '4.10 kB'],
        ['fc2.weight', 'BF16', '10 × 32', '640 bytes'],
    ]);
    assert.deepEqual(await factsOf(page, '#facts'), { Size: '6.20 kB (6,200 bytes)', Tensors: '4', Parameters: '2,410', 'Read so far': '1.30 kB' });
    assert.equal(await read(page), 8 + 1296);
    assert.equal(await text(page, '#metadata-count'), '11 strings');
    assert.equal(await page.locator('#metadata-pairs').isVisible(), false);
    await page.click('#metadata summary');
    const pairs = await page.locator('#metadata-pairs').evaluate((list) => [...list.children].map((child) => child.textContent));
    assert.equal(pairs.length, 22);
    assert.deepEqual(pairs.slice(10, 12), ['input', '8x8 grey pixels 0..16, row by row, divided by 16']);
    await shot(page, 'metadata');
});

inPage('the digits model: numbers, histogram, heat map', async (page) => {
    await openDigits(page);
    await look(page, 'fc1.weight');
    const values = bf16(1464, 5560);
    const sum = values.reduce((sum, x) => sum + x, 0);
    const mean = sum / 2048;
    const shown = await factsOf(page, '#summary');
    const close = (ours, theirs) => assert.ok(Math.abs(number(ours) - theirs) <= 1e-5 * Math.abs(theirs), `${ours} ${theirs}`);
    close(shown.Least, Math.min(...values));
    close(shown.Greatest, Math.max(...values));
    close(shown.Mean, mean);
    close(shown.Deviation, Math.sqrt(values.reduce((sum, x) => sum + (x - mean) ** 2, 0) / 2048));
    assert.deepEqual([shown.Zeros, number(shown['Below 0']), shown.NaN, shown.Read], ['0', values.filter((x) => x < 0).length, '0', '2,048 numbers']);
    assert.equal(await read(page), 8 + 1296 + 4096);

    // Every bar is as high as its count says, and the counts are right.
    const bins = await page.locator('#bins tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => Number(cell.textContent.replace('−', '-').replaceAll(',', '')))));
    const bars = await page.locator('svg.plot rect').evaluateAll((bars) => bars.map((bar) => ({ height: Number(bar.getAttribute('height')), title: bar.textContent })));
    assert.equal(bins.length, bars.length);
    const most = Math.max(...bins.map(([, , count]) => count));
    bins.forEach(([low, high, count], i) => {
        const inside = values.filter((x) => (x >= 0 ? x >= low && x < high : x > low && x <= high)).length;
        assert.equal(count, inside, `${low} to ${high}`);
        assert.ok(Math.abs(bars[i].height - Math.max(count && 1, (142 * count) / most)) < 0.01);
        assert.match(bars[i].title, new RegExp(`: ${count}$`));
    });
    await page.selectOption('#bars', 'octaves');
    const octaves = await page.locator('#bins tbody tr').evaluateAll((rows) => rows.map((row) => Number(row.cells[2].textContent.replaceAll(',', ''))));
    assert.equal(octaves.reduce((a, b) => a + b), 2048);
    assert.notEqual(octaves.length, bins.length);

    // Every cell has the colour of its number.
    assert.deepEqual(await page.locator('#map').evaluate((map) => [map.width, map.height]), [64, 32]);
    const magnitudes = [...values].map(Math.abs).sort((a, b) => a - b);
    const limit = magnitudes[Math.floor(2047 * 0.995)];
    assert.equal(await text(page, '#high'), `≥ ${Number(limit.toPrecision(3))}`);
    const cells = Array.from({ length: 2048 }, (_, i) => [Math.floor(i / 64), i % 64]);
    const zero = [246, 246, 243];
    (await pixels(page, cells)).forEach((pixel, i) => {
        const part = Math.max(-1, Math.min(1, values[i] / limit));
        const end = part < 0 ? [23, 84, 150] : [178, 24, 43];
        const colour = zero.map((from, k) => Math.round(from + (end[k] - from) * Math.abs(part)));
        assert.deepEqual(pixel, [...colour, 255], `cell ${i}: ${values[i]}`);
    });

    // What is pointed at is read out.
    const box = await page.locator('#map').boundingBox();
    await page.locator('#map').hover({ position: { x: ((box.width - 2) * 5.5) / 64, y: ((box.height - 2) * 3.5) / 32 } });
    const told = await text(page, '#cell');
    assert.match(told, /^row 3, column 5: /);
    close(told.split(': ')[1], values[3 * 64 + 5]);
    await shot(page, 'light');
});

inPage('the heat map by keys, and zoomed', async (page) => {
    await openDigits(page);
    await look(page, 'fc1.weight');
    await page.locator('#map').focus();
    await page.keyboard.press('ArrowRight');
    assert.match(await text(page, '#cell'), /^row 0, column 0: /);
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowDown');
    assert.match(await text(page, '#cell'), /^row 3, column 5: /);
    await page.keyboard.press('+');
    await page.waitForFunction(() => document.querySelector('#map').width === 16);
    assert.match(await text(page, '#tensor-status'), /^Read .*, for rows 0 to 15, columns 0 to 15\.$/);
    const values = bf16(1464, 5560);
    await page.keyboard.press('ArrowRight');
    assert.match(await text(page, '#cell'), /^row 0, column 0: /);
    assert.equal(number((await text(page, '#cell')).split(': ')[1]), Number(values[0].toPrecision(6)));
    // The summary is still that of all.
    assert.equal((await factsOf(page, '#summary')).Read, '2,048 numbers');
    await page.keyboard.press('-');
    await page.waitForFunction(() => document.querySelector('#map').width === 64);
    await page.click('#zoom-in');
    await page.waitForFunction(() => document.querySelector('#map').width === 16);
    await page.click('#zoom-whole');
    await page.waitForFunction(() => document.querySelector('#map').width === 64);
});

inPage('the table sorts and filters', async (page) => {
    await openDigits(page);
    const sorted = async (title) => {
        await page.click(`#columns button:has-text("${title}")`);
        return [await names(page), await page.locator(`[role=columnheader]:has-text("${title}")`).getAttribute('aria-sort')];
    };
    const file = ['fc1.bias', 'fc2.bias', 'fc1.weight', 'fc2.weight'];
    assert.deepEqual(await sorted('Name'), [['fc1.bias', 'fc1.weight', 'fc2.bias', 'fc2.weight'], 'ascending']);
    assert.deepEqual(await sorted('Name'), [['fc2.weight', 'fc2.bias', 'fc1.weight', 'fc1.bias'], 'descending']);
    assert.deepEqual(await sorted('Name'), [file, 'none']);
    assert.deepEqual(await sorted('Size'), [['fc2.bias', 'fc1.bias', 'fc2.weight', 'fc1.weight'], 'ascending']);
    assert.deepEqual(await sorted('Dtype'), [['fc1.weight', 'fc2.weight', 'fc1.bias', 'fc2.bias'], 'ascending']);
    assert.deepEqual(await sorted('Shape'), [['fc2.bias', 'fc1.bias', 'fc2.weight', 'fc1.weight'], 'ascending']);
    await page.fill('#filter', 'WEIGHT');
    await page.waitForFunction(() => document.querySelectorAll('.all .row').length === 2);
    assert.deepEqual(await names(page), ['fc2.weight', 'fc1.weight']);
    assert.equal(await text(page, '#count'), '2 of 4 tensors, 4.74 kB');
    await page.selectOption('#dtype', 'F32');
    assert.equal(await text(page, '#count'), '0 of 4 tensors, 0 bytes');
    await page.fill('#filter', '');
    await page.waitForFunction(() => document.querySelectorAll('.all .row').length === 2);
    assert.deepEqual(await names(page), ['fc2.bias', 'fc1.bias']);
});

inPage('a real model', { skip: !existsSync(join(data, 'safetensors')) && 'no model here' }, async (page) => {
    await open(page, join(data, 'safetensors/silero_vad_16k.safetensors'));
    const golden = readFileSync(join(root, 'tests/data/golden/silero_summary.txt'), 'utf8').trim().split('\n').map((line) => line.split(' '));
    assert.equal((await factsOf(page, '#facts')).Tensors, String(golden.length));
    for (const [name, elements, zeros, negatives, subnormals, ...numbers] of golden) {
        await page.fill('#filter', name);
        await look(page, name);
        const shown = await factsOf(page, '#summary');
        assert.equal(number(shown.Read.split(' ')[0]), Number(elements));
        assert.deepEqual(['Zeros', 'Below 0', 'Subnormal'].map((key) => number(shown[key])), [zeros, negatives, subnormals].map(Number), name);
        const six = numbers.map((number) => Number(Number(number).toPrecision(6)));
        assert.deepEqual(['Least', 'Greatest', 'Mean', 'Deviation'].map((key) => number(shown[key])), six, name);
    }
    await page.fill('#filter', '');
    await look(page, 'conv1.weight');
    await shot(page, 'real');
    // Another layout of the same numbers.
    const first = await page.locator('#map').evaluate((map) => [map.width, map.height]);
    await page.selectOption('#split', '1');
    await page.waitForFunction((wide) => document.querySelector('#map').width !== wide, first[0]);
    await page.selectOption('#pool', 'mean');
    assert.notDeepEqual(await page.locator('#map').evaluate((map) => [map.width, map.height]), first);
});

inPage('ten digits, drawn with the mouse, are read', async (page) => {
    for (const [digit, strokes] of Object.entries(DIGITS)) {
        await draw(page, strokes);
        await page.waitForFunction(() => document.querySelector('#answer').textContent.startsWith('It reads'));
        assert.equal(await text(page, '#answer'), `It reads a ${digit}.`);
        const scores = await page.locator('#scores tbody tr').evaluateAll((rows) => rows.map((row) => Number(row.cells[1].textContent.replace('−', '-'))));
        assert.equal(scores.length, 10);
        assert.equal(scores.indexOf(Math.max(...scores)), Number(digit));
        if (digit === '3') await shot(page, 'digit');
        await page.click('#clear');
        await page.waitForFunction(() => document.querySelector('#answer').textContent.startsWith('Draw'));
        assert.equal(await page.locator('#undo').isDisabled(), true);
    }
});

inPage('a digit drawn with the keys is read', async (page) => {
    await page.locator('#paper').focus();
    const press = async (key, times) => {
        for (let i = 0; i < times; i++) await page.keyboard.press(key);
    };
    await press('ArrowUp', 10);
    await press(' ', 1);
    assert.equal(await text(page, '#answer'), 'The pen is down.');
    await press('ArrowDown', 20);
    await press(' ', 1);
    await page.waitForFunction(() => document.querySelector('#answer').textContent === 'It reads a 1.');
    await press('Backspace', 1);
    await page.waitForFunction(() => document.querySelector('#answer').textContent.startsWith('Draw'));
});

inPage('a digit drawn with a finger is read, and does not scroll the page', { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true }, async (page, context) => {
    await page.locator('#paper').scrollIntoViewIfNeeded();
    const { x, y, width, height } = await page.locator('#paper').boundingBox();
    const before = await page.evaluate(() => scrollY);
    const session = await context.newCDPSession(page);
    const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([across, down]) => ({ x: x + across * width, y: y + down * height })) });
    for (const [start, ...rest] of DIGITS[7]) {
        await touch('touchStart', [start]);
        let from = start;
        for (const to of rest) {
            for (const part of [0.25, 0.5, 0.75, 1]) await touch('touchMove', [[0, 1].map((k) => from[k] + (to[k] - from[k]) * part)]);
            from = to;
        }
        await touch('touchEnd', []);
    }
    await page.waitForFunction(() => document.querySelector('#answer').textContent === 'It reads a 7.');
    assert.equal(await page.evaluate(() => scrollY), before);
});

inPage('a broken file is refused as the library words it', async (page) => {
    const broken = Buffer.from(digits);
    broken.write('"F31"', broken.indexOf('"F32"'));
    await page.setInputFiles('#file', write('broken.safetensors', broken));
    await page.waitForSelector('#fault:not([hidden])');
    const byte = digits.indexOf('"F32"');
    assert.equal(await text(page, '#fault-title'), 'broken.safetensors was not opened');
    assert.equal(await text(page, '#fault-text'), `byte ${byte}: this dtype is none of the format's; the file may be newer than this reader`);
    const place = (await page.locator('#fault-place').textContent()).split('\n');
    assert.equal(place[0], 'tensor: "fc1.bias"');
    assert.match(place[1], /^header: .*"dtype":"F31"/);
    assert.equal(place[2].indexOf('^'), place[1].indexOf('"F31"'));
    assert.equal(await page.locator('#contents').isVisible(), false);
    await shot(page, 'broken', {});

    for (const [name, bytes, words] of [
        ['empty', Buffer.alloc(0), /^byte 0: the file has 0 of the 8 bytes/],
        ['cut', digits.subarray(0, 100), /^byte 100: the header ends at byte 1296, but only 100 bytes are there/],
        ['short', digits.subarray(0, 6199), /^byte 1220: the file is truncated: its header implies 6200 bytes, 6199 are there/],
        ['long', Buffer.concat([digits, Buffer.from('x')]), /^byte 6200: the file goes on after its last tensor/],
        ['page.html', Buffer.from('<!doctype html><title>Not found</title>'), /^byte 0: .*this is no safetensors file/],
    ]) {
        await page.setInputFiles('#file', write(name, bytes));
        await page.waitForFunction((name) => document.querySelector('#fault-title').textContent.startsWith(name), name);
        assert.match(await text(page, '#fault-text'), words);
    }
    await openDigits(page);
    assert.equal(await page.locator('#fault').isVisible(), false);
});

inPage('a file of 5 GB opens by its head, and a tensor of it is read as a sample, in pieces, or not at all', async (page) => {
    const tensors = file(entry('small', 'F32', '16', 0, 64), entry('large', 'BF16', '50000,50000', 64, 5_000_000_064), entry('last', 'U8', '4', 5_000_000_064, 5_000_000_068));
    const path = write('large.safetensors', tensors, tensors.length + 5_000_000_068);
    await open(page, path);
    assert.deepEqual((await rows(page))[1], ['large', 'BF16', '50000 × 50000', '5.00 GB']);
    assert.equal((await factsOf(page, '#facts')).Size, `5.00 GB (${(tensors.length + 5_000_000_068).toLocaleString('en')} bytes)`);
    await look(page, 'last');
    await look(page, 'small');
    assert.equal(await read(page), 8 + tensors.length + 64 + 4);
    assert.ok((await read(page)) < 1_000_000);

    await look(page, 'large');
    assert.match(await text(page, '#sampled-text'), /^This is a sample: .* MB of 5\.00 GB, spread evenly/);
    const sampled = await read(page);
    assert.ok(sampled > 10_000_000 && sampled < 40_000_000, `${sampled}`);
    assert.equal(await page.locator('#map').evaluate((map) => map.width * map.height), 256 * 256);
    assert.equal((await factsOf(page, '#summary')).Zeros, (await factsOf(page, '#summary')).Read.split(' ')[0]);
    await shot(page, 'sampled');

    assert.equal(await text(page, '#read-all'), 'Read all 5.00 GB');
    await page.click('#read-all');
    await page.waitForSelector('#reading:not([hidden])');
    await page.waitForFunction(() => document.querySelector('#progress').value > 0.005);
    await shot(page, 'reading');
    await page.click('#cancel');
    assert.equal(await page.locator('#reading').isVisible(), false);
    assert.match(await text(page, '#sampled-text'), /^Stopped after .* of 5\.00 GB: this is of what was read\./);
    assert.equal(await text(page, '#tensor-status'), 'Stopped.');
    // A closer look leaves the summary of what was read as it is.
    const summary = await factsOf(page, '#summary');
    await page.click('#zoom-in');
    await page.waitForFunction(() => /^Read .*, a sample, for rows/.test(document.querySelector('#tensor-status').textContent));
    assert.deepEqual(await factsOf(page, '#summary'), summary);
    assert.match(await text(page, '#sampled-text'), /^Stopped/);
    await page.click('#zoom-whole');
    await page.waitForFunction(() => /^Read [\d.]+ MB, a sample\.$/.test(document.querySelector('#tensor-status').textContent));
    const stopped = await read(page);
    await page.waitForTimeout(300);
    assert.ok((await read(page)) - stopped < 20_000_000);
    assert.ok(stopped < 2_500_000_000);

    // Looking elsewhere stops a reading too.
    await page.click('#read-all');
    await page.waitForFunction(() => document.querySelector('#progress').value > 0.002);
    await look(page, 'last');
    const before = await read(page);
    await page.waitForTimeout(300);
    assert.ok((await read(page)) - before < 20_000_000);
    assert.equal(await page.locator('#reading').isVisible(), false);
    assert.equal((await factsOf(page, '#summary')).Read, '4 numbers');
});

inPage('a file of 20 GB opens as fast as one of 20 kB', async (page) => {
    const times = [];
    for (const [name, length] of [['small', 20_000], ['huge', 20_000_000_000], ['small2', 20_000], ['huge2', 20_000_000_000]]) {
        const bytes = file(entry('t', 'U8', length, 0, length));
        const path = write(name, bytes, bytes.length + length);
        const started = performance.now();
        await open(page, path);
        times.push(performance.now() - started);
        assert.equal(await read(page), 8 + bytes.length);
    }
    const [small, huge] = [Math.min(times[0], times[2]), Math.min(times[1], times[3])];
    assert.ok(huge < small + 1000, `${times}`);
});

inPage('tensors of 512 MiB and more are judged right', async (page) => {
    const sizes = [2 ** 29 - 1, 2 ** 29, 2 ** 31, 2 ** 32, 2 ** 32 + 1];
    let at = 0;
    const bytes = file(...sizes.map((size, i) => entry(`t${i}`, 'U8', size, at, (at += size))));
    await open(page, write('wide', bytes, bytes.length + at));
    assert.deepEqual((await rows(page)).map((row) => row[2]), sizes.map(String));
    await page.setInputFiles('#file', write('narrow', bytes, bytes.length + at - 1));
    await page.waitForSelector('#fault:not([hidden])');
    assert.match(await text(page, '#fault-text'), /the file is truncated/);
    assert.match(await page.locator('#fault-place').textContent(), /^tensor: "t4"/);
});

inPage('numbers of every kind', async (page) => {
    const special = new Float32Array([NaN, Infinity, -Infinity, 0, -0, 1, -1, 1e-40]);
    const parts = [
        ['float', 'F32', '2,4', new Uint8Array(special.buffer)],
        ['wide', 'I64', '3', new Uint8Array(BigInt64Array.of(-1n, 2n ** 40n, 0n).buffer)],
        ['bool', 'BOOL', '2', Uint8Array.of(0, 1)],
        ['four', 'F4', '2,3', Uint8Array.of(0x21, 0x43, 0x65)],
        ['scalar', 'F64', '', new Uint8Array(Float64Array.of(0.5).buffer)],
        ['none', 'F32', '0,5', new Uint8Array(0)],
        ['complex', 'C64', '1', new Uint8Array(8)],
        ['six', 'F6_E2M3', '4', new Uint8Array(3)],
    ];
    let at = 0;
    const header = file(...parts.map(([name, dtype, shape, bytes]) => entry(name, dtype, shape, at, (at += bytes.length))));
    await open(page, write('kinds', Buffer.concat([header, ...parts.map(([, , , bytes]) => bytes)])));

    await look(page, 'float');
    let shown = await factsOf(page, '#summary');
    assert.deepEqual([shown.Least, shown.Greatest, shown.NaN, shown.Infinite, shown.Zeros, shown.Subnormal], ['−∞', '∞', '1', '2', '2', '1']);
    assert.equal(await page.locator('#nan').isVisible(), true);
    const [nan, high, low, zero] = await pixels(page, [[0, 0], [0, 1], [0, 2], [0, 3]]);
    assert.deepEqual([nan, high, low, zero], [[40, 40, 44, 255], [178, 24, 43, 255], [23, 84, 150, 255], [246, 246, 243, 255]]);
    await shot(page, 'kinds');

    await look(page, 'wide');
    shown = await factsOf(page, '#summary');
    assert.deepEqual([shown.Least, shown.Greatest], ['−1', '1.09951e12']);
    await look(page, 'four');
    assert.deepEqual((await factsOf(page, '#summary')).Read, '6 numbers');
    await look(page, 'bool');
    await look(page, 'scalar');
    assert.equal(await text(page, '#histogram'), 'Each number is 0.5.');
    assert.equal((await factsOf(page, '#tensor-facts')).Shape, 'scalar');
    assert.equal((await factsOf(page, '#summary')).Mean, '0.5');

    await page.click('.all .row:has-text("none")');
    assert.equal(await text(page, '#tensor-status'), 'It has no elements.');
    assert.equal(await page.locator('#numbers').isVisible(), false);
    await page.click('.all .row:has-text("complex")');
    await page.waitForSelector('#tensor-fault:not([hidden])');
    assert.match(await text(page, '#tensor-fault'), /C64/);
    await page.click('.all .row:has-text("six")');
    await page.waitForFunction(() => document.querySelector('#tensor-fault').textContent.includes('no defined packing'));
    await look(page, 'bool');
    assert.equal(await page.locator('#tensor-fault').isVisible(), false);
});

inPage('hostile names and metadata are text, and what hides is shown', async (page) => {
    const hostile = ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', 'a\u001b[31mred', '\u202egnp.exe', 'nul\0', 'line\nfeed', '', '\ufeff', '"><b>', '{{constructor}}', 'x'.repeat(100_000), 'e\u0301'.repeat(500), '__proto__', 'שלום'];
    const entries = hostile.map((name, i) => entry(name, 'U8', 1, i, i + 1));
    const metadata = `"__metadata__":{${hostile.map((name) => `${JSON.stringify(name)}:${JSON.stringify(name)}`)}}`;
    const bytes = head(`{${metadata},${entries}}`);
    await open(page, write('<b>&lt;.safetensors', bytes, bytes.length + hostile.length));
    assert.equal(await text(page, '#file-name'), '<b>&lt;.safetensors');
    await page.click('#metadata summary');
    const shown = await names(page);
    assert.deepEqual(shown.slice(0, 10), ['<img src=x onerror=alert(1)>', '<script>alert(1)</script>', 'a\\u{1b}[31mred', '\\u{202e}gnp.exe', 'nul\\0', 'line\\nfeed', '(empty)', '\\u{feff}', '"><b>', '{{constructor}}']);
    assert.ok(shown[10].length < 300 && shown[10].endsWith('(100,000 characters)'), shown[10].slice(-40));
    const terms = await page.locator('#metadata-pairs').evaluate((list) => [...list.children].map((child) => child.textContent));
    assert.deepEqual([terms[4], terms[5], terms[6]], ['a\\u{1b}[31mred', 'a\\u{1b}[31mred', '\\u{202e}gnp.exe']);
    await page.locator('.all .row').nth(0).click();
    await page.waitForFunction(() => /^Read/.test(document.querySelector('#tensor-status').textContent));
    assert.equal(await text(page, '#tensor-name'), '<img src=x onerror=alert(1)>');
    assert.equal(await page.locator('#contents :is(img, script, b)').count(), 0);
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true);
    await shot(page, 'hostile');
    await page.setInputFiles('#file', write('bad\u202e.safetensors', head(`{${entry('\u202e<b>', 'F31', 1, 0, 1)}}`)));
    await page.waitForSelector('#fault:not([hidden])');
    assert.equal(await text(page, '#fault-title'), 'bad\\u{202e}.safetensors was not opened');
    assert.match(await page.locator('#fault-place').textContent(), /^tensor: "\\u\{202e\}<b>"/);
    assert.equal(await page.locator('#fault b').count(), 0);
});

inPage('a hundred thousand tensors are as quick as ten', async (page) => {
    const { bytes, length } = many(100_000, { shuffled: true });
    await open(page, write('many.safetensors', bytes, length));
    assert.equal(await text(page, '#count'), '100,000 tensors, 400 kB');
    assert.ok((await page.locator('.all .row').count()) < 40);
    const within = async (milliseconds, work) => {
        const started = performance.now();
        await work();
        const took = performance.now() - started;
        assert.ok(took < milliseconds, `${work}: ${took} ms`);
    };
    await within(5000, () => page.click('#columns button:has-text("Name")'));
    assert.deepEqual((await names(page)).slice(0, 3), [0, 1, 2].map((i) => `model.layers.${i}.weight`));
    await within(3000, async () => {
        await page.locator('#rows').evaluate((rows) => rows.scrollTo(0, rows.scrollHeight));
        await page.waitForFunction(() => document.querySelector('.all .row:last-child').textContent.includes('99999'));
    });
    await within(3000, async () => {
        await page.fill('#filter', '777');
        await page.waitForFunction(() => document.querySelector('#count').textContent.startsWith('280 of'));
    });
    assert.equal((await names(page))[0], 'model.layers.777.weight');
    await look(page, 'model\\.layers\\.777\\.weight').catch(() => {});
    await page.locator('.all .row').first().click();
    await page.waitForFunction(() => document.querySelector('#tensor-name').textContent === 'model.layers.777.weight');
    await shot(page, 'many');
});

inPage('a million tensors can be listed', async (page) => {
    const { bytes, length } = many(1_000_000);
    await open(page, write('million.safetensors', bytes, length));
    assert.equal(await text(page, '#count'), '1,000,000 tensors, 4.00 MB');
    await page.locator('#grid').focus();
    await page.keyboard.press('End');
    await page.waitForFunction(() => document.querySelector('.all .row.here')?.textContent.includes('999999'));
    await page.keyboard.press('Home');
    await page.waitForFunction(() => document.querySelector('.all .row.here')?.textContent.includes('layers.0.'));
    for (let i = 0; i < 30; i++) await page.keyboard.press('ArrowDown');
    assert.match(await page.locator('.all .row.here').innerText(), /layers\.30\./);
    const [outer, inner] = [await page.locator('#rows').boundingBox(), await page.locator('.all .row.here').boundingBox()];
    assert.ok(inner.y >= outer.y - 1 && inner.y + inner.height <= outer.y + outer.height + 1);
});

inPage('all of it works without a mouse', async (page) => {
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.textContent.trim());
    const order = [];
    const tab = async () => {
        await page.keyboard.press('Tab');
        order.push(await focused());
    };
    for (let i = 0; i < 4; i++) await tab();
    assert.deepEqual(order, ['To the file', 'theme', 'choose', 'sample']);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('#status').textContent.startsWith('Opened'));
    order.length = 0;
    for (let i = 0; i < 8; i++) await tab();
    assert.deepEqual(order, ['Metadata: 11 strings', 'filter', 'dtype', 'grid', 'Name', 'Dtype', 'Shape', 'Size']);
    await page.locator('#grid').focus();
    const here = () => page.locator('.all .row.here .name').innerText();
    assert.equal(await here(), 'fc1.bias');
    await page.keyboard.press('ArrowDown');
    assert.equal(await here(), 'fc2.bias');
    await page.keyboard.press('End');
    assert.equal(await here(), 'fc2.weight');
    await page.keyboard.press('ArrowDown');
    assert.equal(await here(), 'fc2.weight');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    const active = await page.locator('#grid').getAttribute('aria-activedescendant');
    assert.equal(await page.locator(`#${active} .name`).innerText(), 'fc1.weight');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelector('#tensor-name').textContent === 'fc1.weight' && !document.querySelector('#heat').hidden);
    assert.equal(await page.locator('.all .row[aria-selected=true] .name').innerText(), 'fc1.weight');
    assert.equal(await focused(), 'grid');
    order.length = 0;
    for (let i = 0; i < 13; i++) await tab();
    assert.deepEqual(order, ['Name', 'Dtype', 'Shape', 'Size', 'bars', 'The bars as a table', 'map', 'zoom-in', 'zoom-out', 'zoom-whole', 'paper', 'undo', 'clear'].slice(0, 11).concat(order.slice(11)));

    // Whoever cannot see it is told what each thing is.
    const nameless = await page.evaluate(() =>
        [...document.querySelectorAll('button, select, input:not([aria-hidden]), canvas:not([aria-hidden]), [role=grid], [tabindex="0"]')]
            .filter((element) => element.offsetParent !== null)
            .filter((element) => !(element.textContent.trim() || element.labels?.length || element.ariaLabel || element.getAttribute('aria-labelledby')))
            .map((element) => element.outerHTML),
    );
    assert.deepEqual(nameless, []);
    assert.equal(await page.locator('[role=status]').count(), 5);
});

inPage('a file can be dropped anywhere', async (page) => {
    await page.evaluate(async () => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([await (await fetch('digits.safetensors')).blob()], 'dropped.safetensors'));
        document.body.dispatchEvent(new DragEvent('dragover', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    });
    assert.equal(await page.locator('#drop.over').count(), 1);
    await page.evaluate(async () => {
        const transfer = new DataTransfer();
        transfer.items.add(new File([await (await fetch('digits.safetensors')).blob()], 'dropped.safetensors'));
        document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
    });
    await page.waitForFunction(() => document.querySelector('#status').textContent.startsWith('Opened dropped.safetensors: 4 tensors'));
    assert.equal(await page.locator('#drop.over').count(), 0);
});

inPage('dark, when the system is', { colorScheme: 'dark' }, async (page) => {
    const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await paper(), 'rgb(21, 22, 26)');
    await openDigits(page);
    await look(page, 'fc1.weight');
    await draw(page, DIGITS[7]);
    await page.waitForFunction(() => document.querySelector('#answer').textContent === 'It reads a 7.');
    await page.mouse.move(0, 0);
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, 'dark');
    const [before] = await pixels(page, [[0, 0]]);
    await page.selectOption('#theme', 'light');
    assert.equal(await paper(), 'rgb(253, 253, 251)');
    assert.notDeepEqual((await pixels(page, [[0, 0]]))[0], before);
    await page.reload();
    assert.equal(await paper(), 'rgb(253, 253, 251)');
    assert.equal(await page.locator('#theme').inputValue(), 'light');
    await page.selectOption('#theme', 'auto');
    assert.equal(await paper(), 'rgb(21, 22, 26)');
});

inPage('on a phone', { viewport: { width: 375, height: 812 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 }, async (page) => {
    const fits = () => page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.deepEqual(await fits(), [375, 375]);
    await openDigits(page);
    await page.tap('#metadata summary');
    await page.tap('.all .row:has-text("fc1.weight")');
    await page.waitForFunction(() => /^Read/.test(document.querySelector('#tensor-status').textContent));
    assert.deepEqual(await fits(), [375, 375]);
    // Nothing is too small for a finger, and no column is squeezed out.
    const small = await page.evaluate(() => [...document.querySelectorAll('button, select, .all .row')].filter((e) => e.offsetParent !== null && e.offsetHeight < 28).map((e) => e.outerHTML));
    assert.deepEqual(small, []);
    const row = page.locator('.all .row').first();
    for (const cell of await row.locator('> *').all()) assert.ok((await cell.boundingBox()).width > 60);
    await page.evaluate(() => scrollTo(0, 0));
    await shot(page, 'phone');
    await page.selectOption('#theme', 'dark');
    await shot(page, 'phone-dark');
});
