// The tensors of a file: which of them are shown, and in what order. No page here: node tests it.

/** How a list can be ordered. `file` is the order of the header. */
export const ORDERS = ['file', 'name', 'dtype', 'shape', 'size'];

export class Listing {
    #lower = null;
    #natural = null;

    /** @param columns what `Weights.columns` gives */
    constructor(columns) {
        this.columns = columns;
        this.shown = Uint32Array.from({ length: columns.count }, (_, i) => i);
    }

    /**
     * Chooses what is shown: `shown` then has the tensors' numbers.
     * @param {{ words?: string, dtype?: string, order?: string, descending?: boolean }} wanted
     *     words that all stand in the name, in any case; `dtype` an exact one, '' for any
     */
    apply({ words = '', dtype = '', order = 'file', descending = false }) {
        const { count, dtypes, dtypeNames } = this.columns;
        const all = words.toLowerCase().split(/\s+/).filter(Boolean);
        const wanted = dtypeNames.indexOf(dtype);
        const lower = all.length > 0 ? this.#lowerNames() : [];
        const fits = (i) => (dtype === '' || dtypes[i] === wanted) && all.every((word) => lower[i].includes(word));
        let shown = new Uint32Array(count);
        let length = 0;
        for (let i = 0; i < count; i++) {
            if (fits(i)) shown[length++] = i;
        }
        shown = shown.subarray(0, length);
        const compare = this.#compare(order);
        // The sort is stable: what compares equal stays in the order of the header.
        if (compare !== null) shown.sort(descending ? (a, b) => compare(b, a) : compare);
        else if (descending) shown.reverse();
        this.shown = shown;
    }

    /** Bytes of the tensors that are shown. */
    bytes() {
        const { begins, ends } = this.columns;
        return this.shown.reduce((sum, i) => sum + ends[i] - begins[i], 0);
    }

    #compare(order) {
        const { dtypes, dtypeNames, elements, begins, ends } = this.columns;
        switch (order) {
            case 'name': {
                const names = this.#naturalNames();
                return (a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0);
            }
            case 'dtype': {
                const ranks = dtypeNames.map((name) => dtypeNames.filter((other) => other < name).length);
                return (a, b) => ranks[dtypes[a]] - ranks[dtypes[b]];
            }
            case 'shape':
                return (a, b) => elements[a] - elements[b];
            case 'size':
                return (a, b) => ends[a] - begins[a] - (ends[b] - begins[b]);
            default:
                return null;
        }
    }

    #lowerNames() {
        return (this.#lower ??= this.columns.names.map((name) => name.toLowerCase()));
    }

    /** Names in which numbers sort by their value: layer 2 before layer 10. */
    #naturalNames() {
        return (this.#natural ??= this.columns.names.map((name) => name.replace(/\d+/g, (digits) => digits.padStart(12, '0'))));
    }
}
