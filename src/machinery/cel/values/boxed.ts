/** What all values that are objects of our own have in common; plain data never is one. */
export abstract class CelBoxed {
  get isBoxed(): true {
    return true;
  }
}
