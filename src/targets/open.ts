/** Opens the target at an address. Each kind is loaded on first use. */
import { Fault } from '../core/fault.ts';
import { didYouMean } from '../core/nearest.ts';
import { type GraphTarget, TARGET_TYPES, type TargetAddress } from './target.ts';

/**
 * The target at `address`, which the caller closes. Nothing is sent to it yet.
 *
 * @throws Fault target/unknown — an unknown type; config/invalid — an address that is invalid for the type; service/unavailable — an
 * embedded store that another process has open
 */
export async function openTarget(address: TargetAddress): Promise<GraphTarget> {
  switch (address.type) {
    case 'neo4j':
      return (await import('./bolt/bolt.ts')).boltTarget(address);
    case 'embedded':
      return (await import('./embedded/target.ts')).embeddedTarget(address);
    case 'sparql':
    case 'fuseki':
    case 'graphdb':
    case 'rdf4j':
    case 'stardog':
    case 'blazegraph':
    case 'neptune':
    case 'virtuoso':
      return (await import('./sparql/sparql.ts')).sparqlTarget(address);
    default:
      throw unknownType(address.type);
  }
}

/** The type comes from a message or a file, so the compiler has not checked it. */
function unknownType(type: never): Fault {
  const near = didYouMean(String(type), TARGET_TYPES);
  return new Fault('target/unknown', `There is no target of type ${JSON.stringify(type)}; known are ${TARGET_TYPES.join(', ')}`, {
    ...(near === undefined ? {} : { hint: `${near[0]?.toUpperCase()}${near.slice(1)}` }),
  });
}
