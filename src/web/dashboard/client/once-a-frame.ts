/** Drawing what changes far more often than anybody can see. */

/**
 * Asked any number of times, draws once, with the next frame of the browser.
 * @param nextFrame calls back before the browser paints.
 */
export function onceAFrame(draw: () => void, nextFrame: (callback: () => void) => void): () => void {
  let isAsked = false;
  return () => {
    if (isAsked) return;
    isAsked = true;
    nextFrame(() => {
      isAsked = false;
      draw();
    });
  };
}
