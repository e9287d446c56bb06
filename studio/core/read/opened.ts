/** A mapping that is opened without a side file. */
import type { StudioDocument } from '../document.ts';
import { shownAsRead } from '../elements/items.ts';
import { readPartly } from './partly.ts';

/** @returns of a text with errors what can be drawn @throws what `read` throws */
export async function opened(text: string): Promise<{ readonly document: StudioDocument; readonly hasErrors: boolean }> {
  const { document, diagnostics } = await readPartly(text);
  return { document: shownAsRead(document), hasErrors: diagnostics.some(({ severity }) => severity === 'error') };
}
