
// The library, away from the page's thread: a request in, an answer out, in order.
'use strict';
let library = null;
const started = bytes => covshiftModule({wasmBinary: bytes}).then(module => { library = module; });
const ask = request => {
  const size = library.lengthBytesUTF8(request) + 1;
  const memory = library._malloc(size);
  library.stringToUTF8(request, memory, size);
  try {
    return library.UTF8ToString(library._covshift_answer(memory));
  } finally {
    library._free(memory);
  }
};
self.onmessage = async ({data}) => {
  try {
    if (data.module) {
      await started(data.module);
      self.postMessage({id: data.id, answer: '{}'});
      return;
    }
    const start = performance.now();
    const answer = ask(data.request);
    self.postMessage({id: data.id, answer, milliseconds: performance.now() - start});
  } catch (error) {
    self.postMessage({id: data.id, answer: JSON.stringify({error: 'the library failed: ' + error})});
  }
};
