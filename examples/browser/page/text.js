// Numbers and foreign text, as a person reads them.

const digits = new Intl.NumberFormat('en');

/** A count, with its digits in groups. */
export function count(number) {
    return digits.format(number);
}

export function plural(number, one, many = `${one}s`) {
    return `${count(number)} ${number === 1 ? one : many}`;
}

/** A length in bytes. */
export function size(bytes) {
    if (bytes < 1000) return plural(Number(bytes), 'byte');
    const units = ['kB', 'MB', 'GB', 'TB', 'PB', 'EB'];
    let value = Number(bytes) / 1000;
    let unit = 0;
    while (value >= 999.5 && unit < units.length - 1) {
        value /= 1000;
        unit++;
    }
    return `${value.toPrecision(3)} ${units[unit]}`;
}

export function shape(dims) {
    return dims.length === 0 ? 'scalar' : dims.map(String).join(' × ');
}

/** A number of a tensor: six digits, or so many, and no more zeros than it takes. */
export function value(number, digits = 6) {
    if (Number.isNaN(number)) return 'NaN';
    if (!Number.isFinite(number)) return number > 0 ? '∞' : '−∞';
    if (Number.isInteger(number) && Math.abs(number) < 1e9) return count(number).replace('-', '−');
    const short = number.toPrecision(digits).replace(/\.?0+($|e)/, '$1');
    return short.replace('-', '−').replace('e+', 'e').replace('e-', 'e−');
}

/** What does not show, or changes how other characters show. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/u;

/** Characters of a name that are shown at once. */
const MOST = 400;

/**
 * Puts text from a file into an element: as text, with what does not show as its escape, and cut where it is endless.
 * @param {Element} element
 * @param {string} text
 */
export function show(element, text, most = MOST) {
    element.replaceChildren();
    let plain = '';
    const flush = () => {
        if (plain) element.append(plain);
        plain = '';
    };
    const escape = (shown) => {
        flush();
        const mark = document.createElement('span');
        mark.className = 'escape';
        mark.textContent = shown;
        element.append(mark);
    };
    if (text === '') escape('(empty)');
    let left = most;
    for (const character of text) {
        if (left-- === 0) {
            escape(`… (${plural(text.length, 'character')})`);
            break;
        }
        if (hidden.test(character)) escape(escapeOf(character));
        else plain += character;
    }
    flush();
}

/** The same for where there is only text, such as a label. */
export function plain(text, most = MOST) {
    const characters = [...text.slice(0, 2 * most)].slice(0, most);
    return characters.map((c) => (hidden.test(c) ? escapeOf(c) : c)).join('') || '(empty)';
}

function escapeOf(character) {
    const short = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\0': '\\0' }[character];
    return short ?? `\\u{${character.codePointAt(0).toString(16)}}`;
}
