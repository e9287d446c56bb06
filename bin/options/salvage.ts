/** The option that opens a damaged embedded store. */
import type { CommandOption } from '../command-line.ts';

export const SALVAGE: CommandOption = {
  summary: 'open a damaged embedded store with what can be read; what cannot is listed, and the damaged files are kept',
};
