/** The encoding in an XML declaration that is readable byte by byte. */
export function declaredEncoding(head: Uint8Array): string | undefined {
  const text = Buffer.from(head).toString('latin1');
  return /^<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]*)["']/.exec(text)?.[1];
}
