/** The header `Content-Type`. */

/** In lower case, without parameters. */
export const mediaTypeIn = (header: string | undefined): string | undefined => header?.split(';', 1)[0]?.trim().toLowerCase();

/** The parameter `charset`, as it is written. */
export const charsetIn = (header: string | undefined): string | undefined =>
  /;\s*charset\s*=\s*(?:"([^"]+)"|'([^']+)'|([^\s;"']+))/i
    .exec(header ?? '')
    ?.slice(1)
    .find((one) => one !== undefined)
    ?.trim();
