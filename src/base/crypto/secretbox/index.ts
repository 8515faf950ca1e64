export { openSecretbox, SECRETBOX_KEY_BYTES, SECRETBOX_NONCE_BYTES, SECRETBOX_OVERHEAD_BYTES, sealSecretbox } from './secretbox.ts';
