/** Media types of mapping files. */
import { isYarrrml } from '../../../src/mapping/parse/document.ts';

export const TURTLE = 'text/turtle';
/** The first is what is answered. */
export const YAML = ['application/yaml', 'text/yaml', 'application/x-yaml'];

/** By the name of the file: text/turtle, or what YARRRML has. */
export const mediaTypesOf = (fileName: string): readonly string[] => (isYarrrml({ name: fileName }) ? YAML : [TURTLE]);
