import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type AlternativeNames, type Clock, createSelfSigned, type Logger, type Random } from '#base';
import type { ServingCertificate } from '../server/node-servers.ts';
import { CertificateFiles, type CertifiedKey } from './certificate-files.ts';
import { SERVING_SIGNER } from './request-certificate.ts';
import { type RotationDeps, rotatedCertificates } from './rotate-certificate.ts';

export interface ServingFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

interface FollowDeps {
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Upstream's polling interval. */
const CHECK_MS = 60_000;

/** Serves a pair of files, and reloads them when they change. */
export function certificateFromFiles(files: ServingFiles, { clock, logger }: FollowDeps): ServingCertificate {
  return {
    async *follow(signal) {
      let current = await readPair(files);
      yield current;
      while (!signal.aborted) {
        await clock.sleep(CHECK_MS, signal).catch(() => {});
        if (signal.aborted) return;
        try {
          const next = await readPair(files);
          if (next.cert === current.cert && next.key === current.key) continue;
          current = next;
          yield current;
        } catch (error) {
          logger.warn("the kubelet's certificate cannot be read; keeping the previous one", { error });
        }
      }
    },
  };
}

async function readPair({ certFile, keyFile }: ServingFiles): Promise<CertifiedKey> {
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error(`the key in ${keyFile} is not that of the certificate in ${certFile}`);
  return { cert, key };
}

/** Upstream's default: a self-signed certificate, kept in the directory. */
export async function selfSignedFiles(
  directory: string,
  names: AlternativeNames & { readonly nodeName: string },
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<ServingFiles> {
  const files = { certFile: join(directory, 'kubelet.crt'), keyFile: join(directory, 'kubelet.key') };
  if (await readPair(files).then(Boolean, () => false)) return files;
  const { nodeName, ...alternatives } = names;
  const seconds = Math.floor(clock.now() / 1000);
  const subjects = { commonName: `${nodeName}@${seconds}`, authorityName: `${nodeName}-ca@${seconds}` };
  const { cert, key } = createSelfSigned({ ...subjects, ...alternatives }, { clock, random });
  await mkdir(directory, { recursive: true, mode: 0o755 });
  await writeFile(files.keyFile, key, { mode: 0o600 });
  await writeFile(files.certFile, cert, { mode: 0o644 });
  return files;
}

export interface SignedServingOptions {
  readonly nodeName: string;
  readonly directory: string;
  /** Undefined while the node has no addresses yet. */
  names(): AlternativeNames | undefined;
}

/** As `serverTLSBootstrap`: issued by the cluster's signer and renewed before it expires. */
export function certificateFromSigner({ nodeName, directory, names }: SignedServingOptions, deps: RotationDeps): ServingCertificate {
  const files = new CertificateFiles(directory, 'kubelet-server');
  return { follow: (signal) => rotatedCertificates({ nodeName, signerName: SERVING_SIGNER, files, names }, deps, signal) };
}
