// The page: opens files, and puts what is in them into its parts.

import { Drawing } from './draw.js';
import { Listing } from './listing.js';
import { Source, open } from './source.js';
import { Table } from './table.js';
import { TensorPanel, facts } from './tensor.js';
import { count, plain, plural, show, size } from './text.js';
import { Refusal } from './weightview.js';

const byId = (id) => document.getElementById(id);

/** The module, compiled once, when it is first needed. */
let compiled = null;
function module() {
    compiled ??= WebAssembly.compileStreaming(fetch('weightview.wasm')).catch((error) => {
        compiled = null;
        throw error;
    });
    return compiled;
}

/** The digits model, as a file like any other. */
async function model() {
    const answer = await fetch('digits.safetensors');
    if (!answer.ok) throw new Error(`digits.safetensors: ${answer.status} ${answer.statusText}`);
    return new File([await answer.blob()], 'digits.safetensors');
}

// What is open.
let current = null;

const colours = window.matchMedia('(prefers-color-scheme: dark)');
const dark = () => (document.documentElement.dataset.theme ?? (colours.matches ? 'dark' : 'light')) === 'dark';

const panel = new TensorPanel({ dark, readMore: () => tellFacts() });
const drawing = new Drawing({ module, model, dark });
const table = new Table(
    { grid: byId('grid'), head: byId('columns'), scroll: byId('rows'), all: byId('rows-all') },
    { reorder: (order) => list({ ...current.wanted, ...order }), choose },
);

/** Opens a file: its head is all that is read. */
async function openFile(file) {
    const source = new Source(file);
    const opening = { source };
    current = opening;
    panel.close();
    table.reset();
    byId('contents').hidden = true;
    byId('fault').hidden = true;
    byId('status').textContent = `Reading the head of ${plain(file.name)} …`;
    const started = performance.now();
    try {
        const weights = await open(await module(), source);
        if (current !== opening) return;
        const listing = new Listing(weights.columns());
        Object.assign(opening, { weights, listing, wanted: {} });
        showFile();
        const took = Math.max(1, Math.round(performance.now() - started));
        byId('status').textContent = `Opened ${plain(file.name)}: ${plural(weights.count, 'tensor')}, read ${size(source.read)} of ${size(source.length)} in ${count(took)} ms.`;
    } catch (error) {
        if (current === opening) fail(file, error);
    }
}

function fail(file, error) {
    byId('status').textContent = '';
    byId('fault').hidden = false;
    byId('fault-title').textContent = `${plain(file.name)} was not opened`;
    byId('fault-text').textContent = error.message;
    const [, ...place] = error instanceof Refusal ? error.place.split('\n') : [];
    byId('fault-place').hidden = place.length === 0;
    byId('fault-place').textContent = place.map((line) => line.slice(2)).join('\n');
}

function showFile() {
    const { source, weights, listing } = current;
    show(byId('file-name'), source.name);
    tellFacts();
    const pairs = weights.metadata();
    byId('metadata').hidden = pairs.length === 0;
    byId('metadata').open = false;
    byId('metadata-count').textContent = plural(pairs.length, 'string');
    tellMetadata(pairs);
    const dtypes = listing.columns.dtypeNames.toSorted();
    byId('dtype').replaceChildren(new Option('all', ''), ...dtypes.map((name) => new Option(name, name)));
    byId('filter').value = '';
    byId('contents').hidden = false;
    list({});
}

/** Metadata of thousands of strings, or of many megabytes, is shown as far as a person would read. */
function tellMetadata(pairs) {
    const shown = pairs.slice(0, 500).flatMap(([key, value]) => {
        const [term, detail] = ['dt', 'dd'].map((kind) => document.createElement(kind));
        show(term, key);
        show(detail, value, 4000);
        return [term, detail];
    });
    byId('metadata-pairs').replaceChildren(...shown);
    if (pairs.length > 500) byId('metadata-pairs').append(`… and ${plural(pairs.length - 500, 'more string')}`);
}

function tellFacts() {
    const { source, listing } = current;
    const { elements } = listing.columns;
    facts(byId('facts'), [
        ['Size', source.length < 1000 ? size(source.length) : `${size(source.length)} (${plural(source.length, 'byte')})`],
        ['Tensors', count(elements.length)],
        ['Parameters', count(elements.reduce((sum, some) => sum + some, 0))],
        ['Read so far', size(source.read)],
    ]);
    byId('facts').lastElementChild.dataset.read = String(source.read);
}

/** Lists the tensors that are wanted, in the order that is. */
function list(wanted) {
    current.wanted = wanted;
    const { listing, weights } = current;
    listing.apply(wanted);
    const { length } = listing.shown;
    const all = listing.columns.count;
    const tensors = length === all ? plural(all, 'tensor') : `${count(length)} of ${plural(all, 'tensor')}`;
    byId('count').textContent = `${tensors}, ${size(listing.bytes())}`;
    table.fill(listing, (number) => weights.tensor(number));
}

function choose(number) {
    const { weights, source } = current;
    const reading = panel.open(weights, source, number);
    // On a narrow page the panel is below the list.
    byId('tensor-name').scrollIntoView({ block: 'nearest' });
    return reading;
}

function relist() {
    list({ ...current.wanted, words: byId('filter').value, dtype: byId('dtype').value });
}

let typing = 0;
byId('filter').addEventListener('input', () => {
    clearTimeout(typing);
    typing = setTimeout(relist, current.listing.columns.count > 20_000 ? 200 : 0);
});
byId('dtype').addEventListener('change', relist);

byId('choose').addEventListener('click', () => byId('file').click());
byId('file').addEventListener('change', (event) => {
    const [file] = event.target.files;
    if (file) openFile(file);
    event.target.value = ''; // the same file again is another choice
});
byId('sample').addEventListener('click', async () => {
    try {
        await openFile(await model());
    } catch (error) {
        fail({ name: 'digits.safetensors' }, error);
    }
});

// Anywhere on the page is a place to drop a file.
for (const kind of ['dragenter', 'dragover']) {
    document.addEventListener(kind, (event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        byId('drop').classList.add('over');
    });
}
document.addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) byId('drop').classList.remove('over');
});
document.addEventListener('drop', (event) => {
    event.preventDefault();
    byId('drop').classList.remove('over');
    const [file] = event.dataTransfer.files;
    if (file) openFile(file);
});

// Colours: the system's, unless a person chose. The choice outlives the visit where that is allowed.
function setTheme(theme) {
    if (theme === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    byId('theme').value = theme;
    panel.redraw();
    drawing.redraw();
}
colours.addEventListener('change', () => setTheme(byId('theme').value));
byId('theme').addEventListener('change', (event) => {
    setTheme(event.target.value);
    try {
        localStorage.setItem('theme', event.target.value);
    } catch {
        // not allowed here
    }
});
let kept = null;
try {
    kept = localStorage.getItem('theme');
} catch {
    // not allowed here
}
setTheme(['light', 'dark'].includes(kept) ? kept : 'auto');
