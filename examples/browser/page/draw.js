// Paper to draw a digit on, and what the bundled model reads there.

import { Classifier, toImage } from './digit.js';
import { Source, open } from './source.js';
import { value } from './text.js';

const byId = (id) => document.getElementById(id);

/** How far a key moves the pen, in pixels of the paper. */
const STEP = 10;

export class Drawing {
    #strokes = [];
    #pen = null;
    #down = false;
    #classifier = null;

    /**
     * @param {{ module: () => Promise<WebAssembly.Module>, model: () => Promise<File>, dark: () => boolean }} host
     */
    constructor(host) {
        this.host = host;
        this.paper = byId('paper');
        this.paper.addEventListener('pointerdown', (event) => this.#start(event));
        this.paper.addEventListener('pointermove', (event) => this.#go(event));
        for (const kind of ['pointerup', 'pointercancel']) this.paper.addEventListener(kind, () => this.#lift());
        this.paper.addEventListener('keydown', (event) => this.#key(event));
        this.paper.addEventListener('blur', () => this.#leave());
        byId('undo').addEventListener('click', () => this.#undo());
        byId('clear').addEventListener('click', () => this.#clear());
        this.#makeScores();
        this.#show(null);
        this.redraw();
    }

    redraw() {
        const context = this.paper.getContext('2d');
        const style = getComputedStyle(this.paper);
        context.clearRect(0, 0, this.paper.width, this.paper.height);
        Object.assign(context, { lineWidth: 18, lineCap: 'round', lineJoin: 'round', strokeStyle: style.color, fillStyle: style.color });
        for (const stroke of this.#strokes) {
            context.beginPath();
            stroke.forEach(({ x, y }, i) => (i === 0 ? context.moveTo(x, y) : context.lineTo(x, y)));
            if (stroke.length === 1) context.lineTo(stroke[0].x, stroke[0].y + 0.01);
            context.stroke();
        }
        if (this.#pen !== null) {
            context.beginPath();
            context.arc(this.#pen.x, this.#pen.y, 12, 0, 2 * Math.PI);
            Object.assign(context, { lineWidth: 2, strokeStyle: getComputedStyle(byId('undo')).outlineColor });
            context.stroke();
        }
        for (const id of ['undo', 'clear']) byId(id).disabled = this.#strokes.length === 0;
        this.#see(toImage(this.#strokes));
    }

    #start(event) {
        if (event.button !== 0) return;
        event.preventDefault();
        this.paper.focus({ focusVisible: false });
        this.paper.setPointerCapture(event.pointerId);
        this.#pen = null;
        this.#down = true;
        this.#strokes.push([this.#place(event)]);
        this.redraw();
    }

    #go(event) {
        if (!this.#down || this.#pen !== null) return;
        const events = event.getCoalescedEvents?.() ?? [];
        for (const one of events.length > 0 ? events : [event]) this.#strokes.at(-1).push(this.#place(one));
        this.redraw();
    }

    #lift() {
        if (!this.#down) return;
        this.#down = false;
        return this.#read();
    }

    #place(event) {
        const box = this.paper.getBoundingClientRect();
        return {
            x: ((event.clientX - box.left) / box.width) * this.paper.width,
            y: ((event.clientY - box.top) / box.height) * this.paper.height,
        };
    }

    #key(event) {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const moves = { ArrowUp: [0, -STEP], ArrowDown: [0, STEP], ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0] };
        const middle = { x: this.paper.width / 2, y: this.paper.height / 2 };
        if (event.key in moves) {
            const [right, down] = moves[event.key];
            const { x, y } = this.#pen ?? middle;
            const within = (place, most) => Math.max(0, Math.min(most, place));
            this.#pen = { x: within(x + right, this.paper.width), y: within(y + down, this.paper.height) };
            if (this.#down) this.#strokes.at(-1).push(this.#pen);
            this.redraw();
        } else if (event.key === ' ') {
            this.#pen ??= middle;
            if (this.#down) this.#lift();
            else {
                this.#down = true;
                this.#strokes.push([this.#pen]);
                this.redraw();
                byId('answer').textContent = 'The pen is down.';
            }
        } else if (event.key === 'Backspace' || event.key === 'Delete') this.#undo();
        else return;
        event.preventDefault();
    }

    #leave() {
        this.#pen = null;
        this.#lift();
        this.redraw();
    }

    #undo() {
        this.#down = false;
        this.#strokes.pop();
        this.redraw();
        return this.#read();
    }

    #clear() {
        this.#down = false;
        this.#strokes = [];
        this.redraw();
        return this.#read();
    }

    /** Asks the model. */
    async #read() {
        if (this.#strokes.length === 0) {
            byId('answer').textContent = 'Draw, and the model says what it reads.';
            this.#show(null);
            return;
        }
        try {
            this.#classifier ??= this.#load();
            const classifier = await this.#classifier;
            const scores = Array.from(classifier.scores(toImage(this.#strokes)));
            const best = scores.indexOf(Math.max(...scores));
            byId('answer').textContent = `It reads a ${best}.`;
            this.#show(scores, best);
        } catch (error) {
            this.#classifier = null;
            byId('answer').textContent = `The model could not be read: ${error.message}`;
        }
    }

    async #load() {
        const source = new Source(await this.host.model());
        const weights = await open(await this.host.module(), source);
        const { names } = weights.columns();
        const numbers = {};
        for (const name of ['fc1.weight', 'fc1.bias', 'fc2.weight', 'fc2.bias']) {
            const number = names.indexOf(name);
            const { begin, end, elements } = weights.tensor(number);
            const bytes = await source.bytes(begin, end);
            numbers[name] = weights.take(number, 0, elements, bytes, {}).slice();
        }
        return new Classifier((name) => numbers[name]);
    }

    #makeScores() {
        const body = byId('scores').tBodies[0];
        for (let digit = 0; digit < 10; digit++) {
            const row = body.insertRow();
            const head = document.createElement('th');
            head.scope = 'row';
            head.textContent = String(digit);
            row.append(head);
            row.insertCell().textContent = '–';
            const bar = document.createElement('div');
            bar.className = 'bar';
            row.insertCell().append(bar);
        }
    }

    /** Scores as numbers, and their shares as bars: those of a softmax. */
    #show(scores, best) {
        const shares = (scores ?? []).map((score) => Math.exp(score - scores[best]));
        const all = shares.reduce((sum, share) => sum + share, 0);
        [...byId('scores').tBodies[0].rows].forEach((row, digit) => {
            row.classList.toggle('best', digit === best);
            row.cells[1].textContent = scores ? value(Number(scores[digit].toFixed(2))) : '–';
            row.cells[2].firstChild.style.width = scores ? `${(100 * shares[digit]) / all}%` : '0';
        });
    }

    /** Draws the image of 8 by 8. */
    #see(image) {
        const context = byId('seen').getContext('2d');
        const pixels = context.createImageData(8, 8);
        image.forEach((ink, i) => {
            const grey = Math.round((255 * (this.host.dark() ? ink : 16 - ink)) / 16);
            pixels.data.set([grey, grey, grey, 255], 4 * i);
        });
        context.putImageData(pixels, 0, 0);
    }
}
