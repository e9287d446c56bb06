/** A mapping that is opened without a side file. */
import type { StudioDocument } from '../document.ts';
import { shownAsRead } from '../elements/items.ts';
import { read } from './read.ts';

/** @throws what `read` throws */
export async function opened(text: string): Promise<StudioDocument> {
  const { document } = await read(text, undefined);
  return shownAsRead(document);
}
