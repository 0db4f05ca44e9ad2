/** Resolves after `ms`, for a race with what may take longer. @param {number} ms @returns {Promise<undefined>} */
export const timeout = (ms) =>
  new Promise((resolve) => {
    setTimeout(resolve, ms, undefined);
  });
