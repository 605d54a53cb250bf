// Files to test with, written so that what is wrong with one is in plain sight.

/** A file's head: the length field, and the header's text. */
export function head(text) {
    const header = typeof text === 'string' ? new TextEncoder().encode(text) : text;
    const bytes = new Uint8Array(8 + header.length);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(header.length), true);
    bytes.set(header, 8);
    return bytes;
}

/** A tensor's entry. */
export function entry(name, dtype, shape, begin, end) {
    return `${JSON.stringify(name)}:{"dtype":"${dtype}","shape":[${shape}],"data_offsets":[${begin},${end}]}`;
}

/** The head of a file with these entries. */
export function file(...entries) {
    return head(`{${entries.join(',')}}`);
}

/** A head of so many tensors of one F32 each, and how long its file is. */
export function many(count, { shuffled = false } = {}) {
    const order = Uint32Array.from({ length: count }, (_, i) => i);
    const random = numbers(count);
    for (let i = shuffled ? count - 1 : 0; i > 0; i--) {
        const other = random() % (i + 1);
        [order[i], order[other]] = [order[other], order[i]];
    }
    let text = '';
    for (const i of order) text += `${text && ','}${entry(`model.layers.${i}.weight`, 'F32', 1, 4 * i, 4 * i + 4)}`;
    const bytes = head(`{${text}}`);
    return { bytes, length: bytes.length + 4 * count };
}

/** 32-bit numbers that look random, the same for a seed. */
export function numbers(seed) {
    let state = (seed >>> 0) + 0x9e3779b9;
    return () => {
        state = (state + 0x6d2b79f5) >>> 0;
        let mixed = Math.imul(state ^ (state >>> 15), state | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return (mixed ^ (mixed >>> 14)) >>> 0;
    };
}
