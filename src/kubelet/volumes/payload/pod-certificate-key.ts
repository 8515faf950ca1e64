import { generateKeyPair, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { createCertificateRequest, decodePem } from '#base';

const generate = promisify(generateKeyPair);

export interface PodCertificateKey {
  /** PKCS#8, as PEM. */
  readonly pem: string;
  /** The base64 of a PKCS#10 request without names, which proves that the private key is known. */
  readonly stubRequest: string;
}

/** A key of one of upstream's types, and its proof. Rejects for other types. */
export async function newPodCertificateKey(keyType: string): Promise<PodCertificateKey> {
  const key = await newKey(keyType);
  const request = createCertificateRequest(key, { subject: { commonName: '' } });
  const der = decodePem('CERTIFICATE REQUEST', request) ?? Buffer.alloc(0);
  return { pem: key.export({ type: 'pkcs8', format: 'pem' }).toString(), stubRequest: Buffer.from(der).toString('base64') };
}

async function newKey(keyType: string): Promise<KeyObject> {
  switch (keyType) {
    case 'RSA3072':
      return (await generate('rsa', { modulusLength: 3072 })).privateKey;
    case 'RSA4096':
      return (await generate('rsa', { modulusLength: 4096 })).privateKey;
    case 'ECDSAP256':
      return (await generate('ec', { namedCurve: 'prime256v1' })).privateKey;
    case 'ECDSAP384':
      return (await generate('ec', { namedCurve: 'secp384r1' })).privateKey;
    case 'ECDSAP521':
      return (await generate('ec', { namedCurve: 'secp521r1' })).privateKey;
    case 'ED25519':
      return (await generate('ed25519')).privateKey;
    default:
      throw new Error(`while generating keypair: unknown key type "${keyType}"`);
  }
}
