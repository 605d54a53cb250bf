// A file on this machine, read in pieces and never as a whole.

import { Weights } from './weightview.js';

/** How much is read at a time. */
export const PIECE = 4 * 1024 * 1024;

/** A file, and how many bytes of it were read. */
export class Source {
    /** @param {File} file */
    constructor(file) {
        this.file = file;
        this.name = file.name;
        this.length = file.size;
        this.read = 0;
    }

    /** The bytes `begin` to `end`. */
    async bytes(begin, end) {
        const bytes = new Uint8Array(await this.file.slice(begin, end).arrayBuffer());
        this.read += bytes.length;
        if (bytes.length !== end - begin) throw new Error(`The file ended at byte ${begin + bytes.length}: was it changed?`);
        return bytes;
    }
}

/** Reads the head of a file, and proves it: a `Weights`, or a `Refusal`. */
export async function open(module, source) {
    const weights = await Weights.create(module);
    const first = await source.bytes(0, Math.min(8, source.length));
    const wanted = first.length === 8 ? weights.headLength(first) : first.length;
    const length = Math.min(wanted, source.length);
    const head = weights.head(length);
    for (let at = 0; at < length; at += PIECE) {
        head.set(await source.bytes(at, Math.min(at + PIECE, length)), at);
    }
    weights.open(source.length);
    return weights;
}
