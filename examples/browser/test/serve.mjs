// Serves a folder on loopback: `node serve.mjs FOLDER [PORT]`, or `serve(folder)` for a test.

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
    '.html': 'text/html; charset=utf-8',
    '.js': 'text/javascript; charset=utf-8',
    '.css': 'text/css; charset=utf-8',
    '.svg': 'image/svg+xml',
    '.wasm': 'application/wasm',
};

/** A server of a folder, and its address. */
export async function serve(folder, port = 0) {
    const server = createServer(async (request, response) => {
        const { pathname } = new URL(request.url, 'http://localhost');
        const path = join(folder, normalize(decodeURIComponent(pathname === '/' ? '/index.html' : pathname)));
        const found = await stat(path).catch(() => null);
        if (!found?.isFile()) {
            response.writeHead(404).end();
            return;
        }
        const type = TYPES[extname(path)] ?? 'application/octet-stream';
        response.writeHead(200, { 'Content-Type': type, 'Content-Length': found.size, 'Cache-Control': 'no-store' });
        createReadStream(path).pipe(response);
    });
    await new Promise((done) => server.listen(port, '127.0.0.1', done));
    return { server, address: `http://127.0.0.1:${server.address().port}/` };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const { address } = await serve(process.argv[2], Number(process.argv[3] ?? 0));
    console.log(address);
}
