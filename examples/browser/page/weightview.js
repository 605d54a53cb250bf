// weightview.wasm for JavaScript, in a browser or out of it. ABI.md says what the calls are.
//
// The module does no I/O: who uses this reads the file, and hands in its head, then pieces of its tensors.

/** The major version of the interface that this file was written for. */
const ABI = 1;

/** "None", where a file's byte could stand, and a length that is not known. */
const NONE = 0xffff_ffff_ffff_ffffn;

// A byte order mark at the start of a name belongs to it.
const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });
const toUtf8 = new TextEncoder();

/** Why the module refused a file or a call, in its words. */
export class Refusal extends Error {
    /**
     * @param {string} message a sentence, with the byte of the file where there is one
     * @param {number} code what ABI.md lists
     * @param {number | bigint | null} byte where in the file the fault lies
     * @param {string} place the sentence with the text around the fault, where the module can show that
     */
    constructor(message, code, byte, place) {
        super(message);
        this.name = 'Refusal';
        Object.assign(this, { code, byte, place });
    }
}

/** One file, in an instance of the module. */
export class Weights {
    #wasm;
    #memory;
    #views = {};

    /** @param {WebAssembly.Module} module one module serves any number of files */
    static async create(module) {
        return new Weights(await WebAssembly.instantiate(module, {}));
    }

    /** @param {WebAssembly.Instance} instance */
    constructor(instance) {
        this.#wasm = instance.exports;
        this.#memory = instance.exports.memory;
        const version = this.#wasm.wv_version() >>> 16;
        if (version !== ABI) {
            throw new Error(`this is version ${version} of the module's interface, and ${ABI} is needed`);
        }
    }

    /** What files are held to from now on. */
    limit({ maxHeaderLength = 100_000_000, maxTensors = 1_000_000, strict = false } = {}) {
        this.#wasm.wv_limits(BigInt(maxHeaderLength), BigInt(maxTensors), Number(strict));
    }

    /**
     * How many bytes of the file to read first.
     * @param {Uint8Array} first the file's first 8 bytes
     */
    headLength(first) {
        const length = this.#wasm.wv_head_len(view(first).getBigUint64(0, true));
        if (length === 0n) throw this.#refusal();
        return Number(length);
    }

    /**
     * Room for the head: where to write it before `open`. It is gone with the next call of anything else.
     * @param {number} length as `headLength` said, or less when the file is shorter than that
     */
    head(length) {
        const at = this.#wasm.wv_head(Math.min(length, 0xffff_ffff)) >>> 0;
        if (at === 0) throw this.#refusal();
        return new Uint8Array(this.#memory.buffer, at, length);
    }

    /**
     * Reads and proves the head that was written.
     * @param {number | bigint | null} fileLength whether the file is whole is proven with this, if it is known
     */
    open(fileLength) {
        this.#check(this.#wasm.wv_open(fileLength === null ? NONE : BigInt(fileLength)));
    }

    /** How many tensors the file has. */
    get count() {
        return this.#wasm.wv_count();
    }

    /** How long the file must be. */
    get fileLength() {
        return number(this.#wasm.wv_file_len());
    }

    /** The tensor of that number, in header order. */
    tensor(number) {
        this.#check(this.#wasm.wv_tensor(number));
        return this.#record();
    }

    /** The tensor of that name. */
    find(name) {
        const bytes = toUtf8.encode(name);
        const at = this.#buffer(bytes.length);
        this.#bytes(at, bytes.length).set(bytes);
        this.#check(this.#wasm.wv_find(at, bytes.length));
        return this.#record();
    }

    /**
     * All tensors, as columns: a million of them are no million objects.
     *
     * `dtypes` are places in `dtypeNames`; `begins` and `ends` bytes of the file.
     */
    columns() {
        const count = this.count;
        const columns = {
            count,
            dtypeNames: [],
            dtypes: new Uint8Array(count),
            ranks: new Uint8Array(count),
            elements: new Float64Array(count),
            begins: new Float64Array(count),
            ends: new Float64Array(count),
            names: new Array(count),
        };
        const known = new Map();
        const record = this.#wasm.wv_record() >>> 0;
        for (let i = 0; i < count; i++) {
            this.#check(this.#wasm.wv_tensor(i));
            const data = this.#data();
            const dtype = data.getUint32(record + 12, true);
            if (!known.has(dtype)) {
                known.set(dtype, known.size);
                columns.dtypeNames.push(this.#string(record + 12));
            }
            columns.dtypes[i] = known.get(dtype);
            columns.ranks[i] = data.getUint32(record + 24, true);
            columns.elements[i] = Number(data.getBigUint64(record + 32, true));
            columns.begins[i] = Number(data.getBigUint64(record + 40, true));
            columns.ends[i] = Number(data.getBigUint64(record + 48, true));
            columns.names[i] = this.#text(record, 0);
        }
        return columns;
    }

    /** The strings of `__metadata__`, as pairs. */
    metadata() {
        const count = this.#wasm.wv_metadata_count();
        const record = this.#wasm.wv_metadata_record() >>> 0;
        return Array.from({ length: count }, (_, i) => {
            this.#check(this.#wasm.wv_metadata(i));
            return [this.#text(record, 1), this.#text(record + 12, 2)];
        });
    }

    /** The bytes of the file that hold the elements `start` to `end` of a tensor. */
    piece(number, start, end) {
        this.#choose(number, start, end);
        const { begin, end: behind } = this.#record();
        return { begin, end: behind };
    }

    /** Begins a summary. */
    startSummary() {
        this.#wasm.wv_summary_start();
    }

    /**
     * Takes the bytes of the elements `start` to `end` of a tensor.
     * @param {Uint8Array} bytes those that `piece` named
     * @param {{ summary?: boolean, values?: boolean }} wanted whether they are added to the summary, and given back
     * @returns {Float32Array | Float64Array | null} the numbers, in the module's memory: gone with the next call
     */
    take(number, start, end, bytes, { summary = false, values = true }) {
        this.#choose(number, start, end);
        const elements = end - start;
        const at = this.#buffer(bytes.length + 16 + elements * 8);
        const out = at + bytes.length + (16 - (bytes.length % 16));
        this.#bytes(at, bytes.length).set(bytes);
        if (summary) this.#check(this.#wasm.wv_summary_add(at, bytes.length));
        return values ? this.#widen(at, bytes.length, out, elements) : null;
    }

    /** What the numbers taken since `startSummary` are like. What there is none of is NaN. */
    summary() {
        const at = this.#wasm.wv_summary() >>> 0;
        const data = this.#data();
        const counts = 'length finite nans infinities negativeInfinities zeros negatives subnormals'.split(' ');
        const values = 'min max mean std'.split(' ');
        const field = (names, start, read) => names.map((name, i) => [name, read(at + start + 8 * i)]);
        return Object.fromEntries([
            ...field(counts, 0, (place) => Number(data.getBigUint64(place, true))),
            ...field(values, 64, (place) => data.getFloat64(place, true)),
        ]);
    }

    /**
     * A histogram of the numbers taken since `startSummary`.
     * @param {'bars' | 'octaves' | 'bins'} kind
     */
    histogram(kind) {
        const length = this.#wasm.wv_histogram(['bars', 'octaves', 'bins'].indexOf(kind));
        const at = this.#wasm.wv_bins() >>> 0;
        const data = this.#data();
        return Array.from({ length }, (_, i) => ({
            low: data.getFloat64(at + 24 * i, true),
            high: data.getFloat64(at + 24 * i + 8, true),
            count: Number(data.getBigUint64(at + 24 * i + 16, true)),
        }));
    }

    #choose(number, start, end) {
        this.#check(this.#wasm.wv_tensor(number));
        this.#check(this.#wasm.wv_piece(BigInt(start), BigInt(end)));
    }

    #widen(at, length, out, elements) {
        if (this.#wasm.wv_read_f32(at, length, out, elements) === 0) {
            return new Float32Array(this.#memory.buffer, out, elements);
        }
        const status = this.#wasm.wv_read_f64(at, length, out, elements);
        if (status === 0) return new Float64Array(this.#memory.buffer, out, elements);
        // 64-bit integers are no f64 exactly. For a picture the nearest does, as it does for the summary.
        const { dtype } = this.#record();
        if (dtype !== 'I64' && dtype !== 'U64') this.#check(status);
        const low = new Uint32Array(this.#memory.buffer, at, elements * 2);
        const high = dtype === 'I64' ? new Int32Array(this.#memory.buffer, at, elements * 2) : low;
        return Float64Array.from({ length: elements }, (_, i) => high[2 * i + 1] * 2 ** 32 + low[2 * i]);
    }

    #record() {
        const at = this.#wasm.wv_record() >>> 0;
        const data = this.#data();
        const u64 = (place) => number(data.getBigUint64(place, true));
        return {
            name: this.#text(at, 0),
            dtype: this.#string(at + 12),
            bits: data.getUint32(at + 20, true),
            shape: Array.from({ length: data.getUint32(at + 24, true) }, (_, i) => u64(at + 56 + 8 * i)),
            elements: u64(at + 32),
            begin: u64(at + 40),
            end: u64(at + 48),
        };
    }

    /** A text whose place, length and spelling are told at `at`. */
    #text(at, which) {
        const data = this.#data();
        if (data.getUint32(at + 8, true) === 0) return this.#string(at);
        const length = data.getUint32(at + 4, true); // decoded, it is no longer
        const buffer = this.#buffer(length);
        const written = this.#wasm.wv_text(which, buffer, length);
        return utf8.decode(this.#bytes(buffer, written));
    }

    #string(at) {
        const data = this.#data();
        return utf8.decode(this.#bytes(data.getUint32(at, true), data.getUint32(at + 4, true)));
    }

    #buffer(length) {
        const at = this.#wasm.wv_buffer(Math.min(length, 0xffff_ffff)) >>> 0;
        if (at === 0) throw this.#refusal();
        return at;
    }

    // Views of the memory end when it grows.
    #data() {
        return this.#current().data;
    }

    #bytes(at, length) {
        return this.#current().bytes.subarray(at, at + length);
    }

    #current() {
        const buffer = this.#memory.buffer;
        if (this.#views.data?.buffer !== buffer) {
            this.#views = { data: new DataView(buffer), bytes: new Uint8Array(buffer) };
        }
        return this.#views;
    }

    #check(status) {
        if (status !== 0) throw this.#refusal();
    }

    #refusal() {
        const at = this.#wasm.wv_error() >>> 0;
        const byte = this.#data().getBigUint64(at, true);
        const code = this.#data().getUint32(at + 8, true);
        const sentence = this.#string(at + 12);
        this.#wasm.wv_explain?.();
        return new Refusal(sentence, code, byte === NONE ? null : number(byte), this.#string(at + 12));
    }
}

/** A 64-bit number as an ordinary one where that is exact. */
function number(big) {
    return big <= Number.MAX_SAFE_INTEGER ? Number(big) : big;
}

function view(bytes) {
    return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
