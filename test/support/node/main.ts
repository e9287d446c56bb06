/** `npm run test:node -- VERSION [PATTERN…]`: tests on another version of Node; without patterns, a representative part of them. */
import { nodeBinary, REPRESENTATIVE, testWith } from './versions.ts';

const [version, ...patterns] = process.argv.slice(2);
if (version === undefined) {
  console.error('usage: npm run test:node -- VERSION [PATTERN…], for example 26, or 24.21.0 test/src/run');
  process.exitCode = 2;
} else {
  const binary = nodeBinary(version);
  process.exitCode = await testWith(binary, patterns.length > 0 ? patterns : REPRESENTATIVE, (text) => process.stderr.write(text));
}
