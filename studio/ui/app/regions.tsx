/** The regions of the page: landmarks in the order of the focus, with F6 and a link to each. */
import { type ComponentProps, type ReactNode, useEffect } from 'react';
import { WORDS } from './words.ts';

export type RegionName = keyof typeof WORDS.regions;

const ATTRIBUTE = 'data-region';

interface RegionProps extends ComponentProps<'section'> {
  readonly region: RegionName;
  /** What the page is about: one region has it. */
  readonly isMain?: boolean;
}

export function Region({ region, isMain, children, ...rest }: RegionProps): ReactNode {
  const Tag = isMain ? 'main' : 'section';
  return (
    <Tag {...rest} id={`region-${region}`} aria-label={WORDS.regions[region]} tabIndex={-1} {...{ [ATTRIBUTE]: region }}>
      {children}
    </Tag>
  );
}

const regionsHere = (): readonly HTMLElement[] =>
  [...document.querySelectorAll<HTMLElement>(`[${ATTRIBUTE}]`)].filter((region) => region.getClientRects().length > 0);

/** The first control of a region gets the focus, or the region itself where there is none. */
export function focusRegion(region: HTMLElement): void {
  const inside = region.querySelector<HTMLElement>('[tabindex="0"], button, input, select, textarea, a[href]');
  (inside ?? region).focus();
}

export function focusRegionNamed(name: RegionName): void {
  const region = regionsHere().find((one) => one.getAttribute(ATTRIBUTE) === name);
  if (region !== undefined) focusRegion(region);
}

/** F6 and Shift+F6 go around the regions. */
export function useRegionKeys(): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'F6' || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      const all = regionsHere();
      const now = all.findIndex((region) => region.contains(document.activeElement));
      const next = event.shiftKey ? (now <= 0 ? all.length - 1 : now - 1) : (now + 1) % all.length;
      const region = all[next];
      if (region !== undefined) focusRegion(region);
    };
    window.addEventListener('keydown', press, true);
    return () => window.removeEventListener('keydown', press, true);
  }, []);
}

interface SkipLinksProps {
  readonly regions: readonly RegionName[];
  /** Called before a region gets the focus. */
  readonly show: (region: RegionName) => void;
}

export const SkipLinks = ({ regions, show }: SkipLinksProps): ReactNode => (
  <nav className="skip-links" aria-label="Skip">
    {regions.map((region) => (
      <a
        key={region}
        href={`#region-${region}`}
        onClick={(event) => {
          // The address names the model.
          event.preventDefault();
          show(region);
          focusRegionNamed(region);
        }}
      >
        {WORDS.skipTo(WORDS.regions[region])}
      </a>
    ))}
  </nav>
);
