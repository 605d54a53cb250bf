// A drawn digit, as the model was trained to see one: 8 by 8 numbers from 0 to 16.
//
// The images of the training data were made from bitmaps of 32 by 32 that were black or white: each number counts
// the black pixels in a square of 4 by 4. Before that, every digit had been scaled to fill the full height, and its
// strokes made thicker or thinner, so that all have much the same amount of ink. A drawing gets the same treatment.

/** The bitmap's side. */
const SIDE = 32;

/** Black pixels of an image: the mean of the training data is 312, whatever the digit. A pen's even line needs less. */
const INK = 290;

/** The widest that digits of the training data are. */
const WIDEST = 24;

/**
 * @param {{ x: number, y: number }[][]} strokes in pixels, y downward
 * @returns {Float32Array} 64 numbers, row by row; all 0 when nothing is drawn
 */
export function toImage(strokes) {
    const points = strokes.flat();
    if (points.length === 0) return new Float32Array(64);
    // The thickness at which there is as much ink as there should be.
    let [thin, thick] = [1, 16];
    while (thick - thin > 0.1) {
        const middle = (thin + thick) / 2;
        if (count(bitmap(strokes, points, middle)) < INK) thin = middle;
        else thick = middle;
    }
    const black = bitmap(strokes, points, thin);
    const image = new Float32Array(64);
    black.forEach((on, i) => {
        if (on) image[((i / SIDE) >> 2) * 8 + ((i % SIDE) >> 2)]++;
    });
    return image;
}

/** The strokes, drawn with that thickness into the bitmap's height, in its middle. */
function bitmap(strokes, points, thickness) {
    const place = fit(strokes, points, thickness);
    const black = new Uint8Array(SIDE * SIDE);
    for (const stroke of strokes) {
        const placed = stroke.map(place);
        placed.forEach((from, i) => paint(black, from, placed[i + 1] ?? from, thickness / 2));
    }
    return black;
}

/**
 * Where a point of the drawing lies in the bitmap: as high as that is, no wider than digits are, and its ink, rather
 * than its box, in the middle.
 */
function fit(strokes, points, thickness) {
    const [left, right] = range(points.map((point) => point.x));
    const [top, bottom] = range(points.map((point) => point.y));
    const [width, height] = [right - left, bottom - top];
    // A dot, or a line that lies, is not stretched to the full height.
    const down = (SIDE - thickness) / Math.max(height, width / 2, 1);
    const across = Math.min(down, (WIDEST - thickness) / Math.max(width, 1));
    const middle = { x: middleOfInk(strokes), y: (top + bottom) / 2 };
    return ({ x, y }) => ({ x: SIDE / 2 + (x - middle.x) * across, y: SIDE / 2 + (y - middle.y) * down });
}

function middleOfInk(strokes) {
    let [ink, sum] = [0, 0];
    for (const stroke of strokes) {
        stroke.forEach((from, i) => {
            const to = stroke[i + 1] ?? from;
            const length = Math.hypot(to.x - from.x, to.y - from.y) + 1e-6; // a dot is ink too
            ink += length;
            sum += (length * (from.x + to.x)) / 2;
        });
    }
    return sum / ink;
}

function range(values) {
    return values.reduce(([low, high], value) => [Math.min(low, value), Math.max(high, value)], [Infinity, -Infinity]);
}

/** Blackens the pixels whose middle is that near to the line. */
function paint(black, from, to, radius) {
    const across = { x: to.x - from.x, y: to.y - from.y };
    const squared = across.x ** 2 + across.y ** 2;
    const near = (a, b) => [Math.max(0, Math.floor(Math.min(a, b) - radius)), Math.min(SIDE - 1, Math.ceil(Math.max(a, b) + radius))];
    const [left, right] = near(from.x, to.x);
    const [top, bottom] = near(from.y, to.y);
    for (let row = top; row <= bottom; row++) {
        for (let column = left; column <= right; column++) {
            const [x, y] = [column + 0.5 - from.x, row + 0.5 - from.y];
            const along = squared === 0 ? 0 : Math.min(1, Math.max(0, (x * across.x + y * across.y) / squared));
            if (Math.hypot(x - along * across.x, y - along * across.y) <= radius) black[row * SIDE + column] = 1;
        }
    }
}

function count(black) {
    return black.reduce((sum, on) => sum + on, 0);
}

/** The classifier of digits.safetensors, given its numbers. */
export class Classifier {
    constructor(numbers) {
        this.layers = ['fc1', 'fc2'].map((name) => ({ weight: numbers(`${name}.weight`), bias: numbers(`${name}.bias`) }));
    }

    /** Ten scores, one for each digit; the highest is the answer. */
    scores(image) {
        const [first, second] = this.layers;
        const input = image.map((pixel) => pixel / 16);
        return apply(second, apply(first, input).map((x) => Math.max(0, x)));
    }
}

/** weight · input + bias */
function apply({ weight, bias }, input) {
    return bias.map((start, row) => input.reduce((sum, x, i) => sum + x * weight[row * input.length + i], start));
}
