/** Builds the page of the studio into `dist/studio/page`: files with a hash in their names, each also compressed. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

const OUT = resolve(import.meta.dirname, '../dist/studio/page');
const BROTLI_QUALITY = 9;

/** The service sends them as they are: compressing at each request would cost more than reading. */
const compressed = {
  name: 'compressed',
  closeBundle() {
    const assets = join(OUT, 'assets');
    for (const name of readdirSync(assets)) {
      if (!/\.(js|css|svg)$/.test(name)) continue;
      const bytes = readFileSync(join(assets, name));
      writeFileSync(join(assets, `${name}.gz`), gzipSync(bytes, { level: 9 }));
      const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
      writeFileSync(join(assets, `${name}.br`), brotliCompressSync(bytes, { params }));
    }
  },
};

export default {
  root: import.meta.dirname,
  base: '/studio/',
  oxc: { jsx: { runtime: 'automatic' } },
  build: {
    outDir: OUT,
    emptyOutDir: true,
    target: 'es2022',
    manifest: 'manifest.json',
    // Of the packages that are in the scripts, with their texts.
    license: { fileName: 'licenses.md' },
    // The policy of the page allows no inline scripts, and fonts and styles from its files alone.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      checks: { pluginTimings: false },
      // "use client" of packages means nothing where there is no server that renders.
      onLog: (level, log, say) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && say(level, log),
    },
  },
  // They load parts of themselves when they need them, as the page does.
  worker: { format: 'es' },
  plugins: [compressed],
};
