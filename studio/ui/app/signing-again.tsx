/** A token that ends while the user works: it is asked for again, above what is open, which stays as it is. */
import { type ReactNode, useEffect, useState } from 'react';
import { SIGNED_IN, TOKEN_ENDED } from '../../client/token.ts';
import { Dialog } from '../parts/dialog.tsx';
import { SignIn } from './sign-in.tsx';
import { WORDS } from './words.ts';

export function SigningAgain(): ReactNode {
  const [isAsking, setAsking] = useState(false);
  useEffect(() => {
    const ask = (): void => setAsking(true);
    window.addEventListener(TOKEN_ENDED, ask);
    return () => window.removeEventListener(TOKEN_ENDED, ask);
  }, []);
  if (!isAsking) return null;
  const end = (): void => setAsking(false);
  const signed = (): void => {
    end();
    window.dispatchEvent(new Event(SIGNED_IN));
  };
  return (
    <Dialog title={WORDS.signIn.title} onClose={end}>
      <p>{WORDS.signIn.ended}</p>
      <SignIn onSigned={signed} />
    </Dialog>
  );
}
