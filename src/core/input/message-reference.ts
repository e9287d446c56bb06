/** References to what a message of a topic has beside the records within its value. They are the same in every reference formulation. */

/** What may be referred to, and whether a message may have several values for it. */
export type MessagePart =
  | { readonly part: 'value' | 'key' | 'timestamp' | 'partition' | 'offset' | 'topic' }
  /** Headers may have equal names. */
  | { readonly part: 'header'; readonly name: string };

const PARTS = ['value', 'key', 'timestamp', 'partition', 'offset', 'topic'] as const;

export const MESSAGE_REFERENCES: readonly string[] = [...PARTS.map((part) => `qms:${part}`), 'qms:header(NAME)'];

/** `qms:key`, `qms:header(source)`. undefined: it is no reference to the message. */
export function messagePartOf(reference: string): MessagePart | undefined {
  const header = /^qms:header\((.+)\)$/s.exec(reference)?.[1];
  if (header !== undefined) return { part: 'header', name: header };
  const part = PARTS.find((one) => reference === `qms:${one}`);
  return part && { part };
}

/** Whether a reference begins as those to messages do, and so is none within a document. */
export const looksLikeMessagePart = (reference: string): boolean => reference.startsWith('qms:');
