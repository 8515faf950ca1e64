import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface CertificateFiles {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const EXTENSIONS = 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth,clientAuth\n';

/** An authority for one test, and certificates by it, as files. */
export async function makeCertificates(
  directory: string,
  authority: string,
  names: readonly string[],
): Promise<readonly CertificateFiles[]> {
  const file = (name: string) => join(directory, `${authority}-${name}`);
  const [ca, caKey, extensions] = [file('ca.pem'), file('ca.key'), file('extensions')];
  await writeFile(extensions, EXTENSIONS);
  openssl('req', '-x509', ...NEW_KEY, '-keyout', caKey, '-out', ca, '-subj', `/CN=${authority}`, '-days', '1');
  return names.map((name) => {
    const [key, request, cert] = [file(`${name}.key`), file(`${name}.csr`), file(`${name}.pem`)];
    openssl('req', ...NEW_KEY, '-keyout', key, '-out', request, '-subj', `/CN=${name}`);
    openssl(
      'x509',
      '-req',
      '-in',
      request,
      '-CA',
      ca,
      '-CAkey',
      caKey,
      '-CAcreateserial',
      '-days',
      '1',
      '-extfile',
      extensions,
      '-out',
      cert,
    );
    return { ca, cert, key };
  });
}

function openssl(...args: readonly string[]): void {
  const { error, status, stderr } = spawnSync('openssl', args);
  if (error !== undefined) throw new Error('openssl is not installed: the tests of TLS make their certificates with it', { cause: error });
  if (status !== 0) throw new Error(`openssl ${args[0]} failed: ${stderr.toString()}`);
}
