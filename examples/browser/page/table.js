// The table of tensors: rows exist while they are in sight, so a million are as quick as ten.

import { plain, shape, show, size } from './text.js';

/** The tallest that browsers let an element be is about twice this; past it, the scroll bar covers more than a pixel. */
const TALLEST = 8_000_000;

/** Rows made beyond either edge. */
const BEYOND = 4;

const COLUMNS = [
    { order: 'name', title: 'Name' },
    { order: 'dtype', title: 'Dtype' },
    { order: 'shape', title: 'Shape' },
    { order: 'size', title: 'Size', number: true },
];

export class Table {
    #here = 0;
    #chosen = -1;
    #order = { order: 'file', descending: false };
    #rows = new Map();

    /**
     * @param {{ grid: HTMLElement, head: HTMLElement, scroll: HTMLElement, all: HTMLElement }} elements
     * @param {{ reorder: (order) => void, choose: (number) => void }} host what is called
     */
    constructor(elements, host) {
        Object.assign(this, elements, { host });
        this.#makeHead();
        this.scroll.addEventListener('scroll', () => this.#draw());
        this.grid.addEventListener('keydown', (event) => event.target === this.grid && this.#key(event));
        this.all.addEventListener('click', (event) => {
            const row = event.target.closest('.row');
            if (row) this.#choose(Number(row.dataset.place));
        });
        new ResizeObserver(() => this.#layOut()).observe(this.scroll);
    }

    /** Shows a listing from its top. `describe` gives the tensor of a number. */
    fill(listing, describe) {
        Object.assign(this, { listing, describe });
        this.#here = 0;
        this.scroll.scrollTop = 0;
        this.grid.setAttribute('aria-rowcount', String(listing.shown.length + 1));
        this.#rows.clear();
        this.all.replaceChildren();
        this.#layOut();
    }

    /** Forgets the order and the choice, for another file. */
    reset() {
        this.#chosen = -1;
        this.#order = { order: 'file', descending: false };
        this.#markHead();
    }

    #makeHead() {
        for (const { order, title, number } of COLUMNS) {
            const cell = document.createElement('div');
            cell.setAttribute('role', 'columnheader');
            if (number) cell.className = 'number';
            const button = document.createElement('button');
            button.type = 'button';
            button.dataset.order = order;
            button.textContent = title;
            button.addEventListener('click', () => this.#reorder(order));
            cell.append(button);
            this.head.append(cell);
        }
        this.#markHead();
    }

    /** Up, then down, then as in the file. */
    #reorder(order) {
        const { order: current, descending } = this.#order;
        if (current !== order) this.#order = { order, descending: false };
        else if (!descending) this.#order = { order, descending: true };
        else this.#order = { order: 'file', descending: false };
        this.#markHead();
        this.host.reorder(this.#order);
    }

    #markHead() {
        const { order, descending } = this.#order;
        for (const button of this.head.querySelectorAll('button')) {
            const here = button.dataset.order === order;
            const { title } = COLUMNS.find((column) => column.order === button.dataset.order);
            button.textContent = here ? `${title} ${descending ? '↓' : '↑'}` : title;
            button.parentElement.setAttribute('aria-sort', here ? (descending ? 'descending' : 'ascending') : 'none');
        }
    }

    #layOut() {
        if (!this.listing) return;
        const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
        this.rowHeight = rem * parseFloat(getComputedStyle(this.all).getPropertyValue('--row'));
        const tall = Math.max(1, this.listing.shown.length) * this.rowHeight;
        this.all.style.height = `${Math.min(tall, TALLEST)}px`;
        this.#draw();
    }

    /** The first row in sight, as a fraction of rows. */
    #first() {
        const { length } = this.listing.shown;
        const sight = this.scroll.clientHeight;
        const tall = length * this.rowHeight;
        if (tall <= TALLEST) return this.scroll.scrollTop / this.rowHeight;
        return (this.scroll.scrollTop / (TALLEST - sight)) * (length - sight / this.rowHeight);
    }

    #scrollTo(first) {
        const { length } = this.listing.shown;
        const sight = this.scroll.clientHeight;
        const tall = length * this.rowHeight;
        this.scroll.scrollTop = tall <= TALLEST ? first * this.rowHeight : (first / (length - sight / this.rowHeight)) * (TALLEST - sight);
    }

    #draw() {
        if (!this.listing) return;
        const { shown } = this.listing;
        const first = this.#first();
        const inSight = this.scroll.clientHeight / this.rowHeight;
        const from = Math.max(0, Math.floor(first) - BEYOND);
        const to = Math.min(shown.length, Math.ceil(first + inSight) + BEYOND);
        for (const [place, row] of this.#rows) {
            if (place >= from && place < to) continue;
            row.remove();
            this.#rows.delete(place);
        }
        for (let place = from; place < to; place++) {
            let row = this.#rows.get(place);
            if (!row) {
                row = this.#makeRow(place);
                this.#rows.set(place, row);
                this.all.append(row);
            }
            row.style.transform = `translateY(${Math.round(this.scroll.scrollTop + (place - first) * this.rowHeight)}px)`;
            row.classList.toggle('here', place === this.#here);
            row.setAttribute('aria-selected', String(shown[place] === this.#chosen));
        }
        if (this.#rows.has(this.#here)) this.grid.setAttribute('aria-activedescendant', `row-${this.#here}`);
        else this.grid.removeAttribute('aria-activedescendant');
    }

    #makeRow(place) {
        const number = this.listing.shown[place];
        const tensor = this.describe(number);
        const row = document.createElement('div');
        row.className = 'row';
        row.id = `row-${place}`;
        row.dataset.place = String(place);
        row.setAttribute('role', 'row');
        row.setAttribute('aria-rowindex', String(place + 2));
        const cells = [
            ['name', (cell) => {
                show(cell, tensor.name, 200);
                cell.title = plain(tensor.name);
                cell.dir = 'auto';
            }],
            ['', (cell) => cell.append(tensor.dtype)],
            ['', (cell) => {
                cell.append(shape(tensor.shape));
                cell.title = shape(tensor.shape);
            }],
            ['number', (cell) => cell.append(size(BigInt(tensor.end) - BigInt(tensor.begin)))],
        ];
        for (const [kind, fill] of cells) {
            const cell = document.createElement('div');
            cell.className = kind;
            cell.setAttribute('role', 'gridcell');
            fill(cell);
            row.append(cell);
        }
        return row;
    }

    #key(event) {
        const last = this.listing ? this.listing.shown.length - 1 : -1;
        if (last < 0 || event.altKey || event.ctrlKey || event.metaKey) return;
        const page = Math.max(1, Math.floor(this.scroll.clientHeight / this.rowHeight) - 1);
        const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
        if (event.key in moves) this.#move(Math.min(last, Math.max(0, this.#here + moves[event.key])));
        else if (event.key === 'Enter' || event.key === ' ') this.#choose(this.#here);
        else return;
        event.preventDefault();
    }

    /** Moves to a row, and brings it in sight. */
    #move(place) {
        this.#here = place;
        const first = this.#first();
        const inSight = this.scroll.clientHeight / this.rowHeight;
        if (place < first) this.#scrollTo(place);
        else if (place + 1 > first + inSight) this.#scrollTo(place + 1 - inSight);
        this.#draw();
    }

    #choose(place) {
        this.#here = place;
        this.#chosen = this.listing.shown[place];
        this.#draw();
        this.host.choose(this.#chosen);
    }
}
