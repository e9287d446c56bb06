/** The checksum CRC-64 of xz (ECMA-182, reflected), on halves of 32 bits. */

const HIGH_POLYNOMIAL = 0xc96c5795;
const LOW_POLYNOMIAL = 0xd7870f42;

const HIGHS = new Int32Array(256);
const LOWS = new Int32Array(256);
for (let byte = 0; byte < 256; byte++) {
  let [high, low] = [0, byte];
  for (let i = 0; i < 8; i++) {
    const isOdd = (low & 1) !== 0;
    low = (low >>> 1) | ((high & 1) << 31);
    high >>>= 1;
    if (isOdd) {
      low ^= LOW_POLYNOMIAL;
      high ^= HIGH_POLYNOMIAL;
    }
  }
  HIGHS[byte] = high;
  LOWS[byte] = low;
}

export class Crc64 {
  #high = -1;
  #low = -1;

  update(bytes: Uint8Array): void {
    let high = this.#high;
    let low = this.#low;
    for (let i = 0; i < bytes.length; i++) {
      const index = (low ^ (bytes[i] as number)) & 0xff;
      low = ((low >>> 8) | (high << 24)) ^ (LOWS[index] as number);
      high = (high >>> 8) ^ (HIGHS[index] as number);
    }
    this.#high = high;
    this.#low = low;
  }

  /** Eight bytes, the lowest first. */
  digest(): Buffer {
    const digest = Buffer.alloc(8);
    digest.writeInt32LE(~this.#low, 0);
    digest.writeInt32LE(~this.#high, 4);
    return digest;
  }
}
