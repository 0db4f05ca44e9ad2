// What the provider remembers: its sessions, codes and grants. The library's own memory ends with the instance, and a
// rotation of keys needs a new one.

export class Memory {
  #entries = new Map();

  /** Forgets everything, as a provider does that ends all sessions. */
  clear() {
    this.#entries.clear();
  }

  /** The library's interface to one kind of entry. */
  adapter(kind) {
    const entries = this.#entries;
    const keyOf = (id) => `${kind}:${id}`;
    const find = async (id) => {
      const entry = entries.get(keyOf(id));
      return entry && entry.expires > Date.now() ? entry.payload : undefined;
    };
    return {
      find,
      findByUid: async (uid) => {
        for (const [key, { payload }] of entries) {
          if (key.startsWith(`${kind}:`) && payload.uid === uid) return find(key.slice(kind.length + 1));
        }
        return undefined;
      },
      upsert: async (id, payload, seconds = Infinity) => {
        entries.set(keyOf(id), { payload, expires: Date.now() + seconds * 1_000 });
      },
      // A refresh token or code is used once; using it again revokes its grant.
      consume: async (id) => {
        entries.get(keyOf(id)).payload.consumed = Math.floor(Date.now() / 1_000);
      },
      destroy: async (id) => {
        entries.delete(keyOf(id));
      },
      revokeByGrantId: async (grantId) => {
        for (const [key, { payload }] of entries) {
          if (payload.grantId === grantId) entries.delete(key);
        }
      },
    };
  }
}
