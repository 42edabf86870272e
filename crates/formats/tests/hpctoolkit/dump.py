"""Writes what an independent reader finds in databases, for comparison.

usage: dump.py FOLDER_OF_V4CHECK OUTPUT DATABASE...

For the n-th database OUTPUT/n.json has the metadata and OUTPUT/n.bin every value of profile.db
(profile, context, metric, value) and every sample of trace.db (profile, time, context), packed.
"""
import json
import os
import struct
import sys

sys.path.insert(0, sys.argv[1])
import v4check
from v4check import U, cstr, hdr, sections


def sections_of(m):
    names = ['General', 'IdNames', 'Metrics', 'Context', 'Strings', 'Modules', 'Files', 'Functions']
    return dict(zip(names, sections(m, 8)))


def is_draft(m):
    return U('<B', m, sections_of(m)['Metrics'][1] + 12)[0] == 0x18


def draft(d, m):
    """The layout of mid-2022, which v4check does not know; same shape of answer."""
    hdr(m, b'meta', b'_meta.db')
    S = sections_of(m)
    R = {'warn': [], 'transposed_ok': None}
    t, de = U('<QQ', m, S['General'][1])
    R['title'], R['desc'] = cstr(m, t), cstr(m, de)
    pp, nk = U('<QB', m, S['IdNames'][1])
    R['kinds'] = [cstr(m, U('<Q', m, pp + 8 * i)[0]) for i in range(nk)]
    pM, nM, szM, szS, szSum = U('<QIBBB', m, S['Metrics'][1])
    R['scopes'], R['metrics'] = None, []
    for i in range(nM):
        pn, ns, ps = U('<QHxxxxxxQ', m, pM + i * szM)
        insts, sums = [], []
        for j in range(ns):
            sn, nsum, pid, psum = U('<QHHxxxxQ', m, ps + j * szS)
            insts.append((cstr(m, sn), pid))
            for k in range(nsum):
                pf, cb, sid = U('<QBxH', m, psum + k * szSum)
                sums.append((cstr(m, sn), cstr(m, pf), cb, sid))
        R['metrics'].append((cstr(m, pn), insts, sums))
    def table(name):
        a, n, s = U('<QIH', m, S[name][1])
        return [a + i * s for i in range(n)]
    R['mods'] = {o: cstr(m, U('<Q', m, o + 8)[0]) for o in table('Modules')}
    R['files'] = {o: (U('<I', m, o)[0], cstr(m, U('<Q', m, o + 8)[0])) for o in table('Files')}
    R['fns'] = {}
    for o in table('Functions'):
        pn, pm, of, pf, ln, fl = U('<QQQQII', m, o)
        R['fns'][o] = (cstr(m, pn) if pn else None, R['mods'][pm] if pm else None, of,
                       R['files'][pf][1] if pf else None, ln, fl)
    R['entries'], R['ctx'] = [], {}
    size, roots = U('<QQ', m, S['Context'][1])
    todo = [(roots, size, 0)]
    while todo:
        at, size, parent = todo.pop()
        end = at + size
        while at < end:
            szc, pc, cid, flags, rel, lex, words = U('<QQIBBBB', m, at)
            node = dict(parent=parent, type=lex, rel=rel, prop=0)
            f = at + 24
            if flags & 1:
                node['fn'] = U('<Q', m, f)[0]
                f += 8
            if flags & 2:
                node['file'], node['line'] = U('<QI', m, f)
                f += 16
            if flags & 4:
                node['mod'], node['off'] = U('<QQ', m, f)
            R['ctx'][cid] = node
            if szc:
                todo.append((pc, szc, cid))
            at += 24 + 8 * words
    b = open(d + '/profile.db', 'rb').read()
    hdr(b, b'prof', b'_prof.db')
    pa, n, stride = U('<QIB', b, sections(b, 2)[0][1])
    assert stride == 0x28
    R['profs'] = []
    for i in range(n):
        nv, pv, nc, pci, pid = U('<QQIxxxxQQ', b, pa + i * stride)
        ids = None
        if pid:
            k, = U('<H', b, pid)
            ids = [U('<BxHIQ', b, pid + 8 + 16 * j) for j in range(k)]
            ids = [(R['kinds'][a], f & 1, l, ph) for a, f, l, ph in ids]
        index = [U('<IQ', b, pci + 12 * j) for j in range(nc)] + [(None, nv)]
        rows = {}
        for (ctx, start), (_, end) in zip(index, index[1:]):
            rows[ctx] = dict(U('<Hd', b, pv + 10 * k) for k in range(start, end))
        R['profs'].append(dict(ids=ids, flags=0 if pid else 1, rows=rows))
    c = open(d + '/cct.db', 'rb').read()
    R['nctx'] = U('<QI', c, sections(c, 1)[0][1])[1]
    return R


def traces(d):
    if not os.path.exists(d + '/trace.db'):
        return None, b''
    t = open(d + '/trace.db', 'rb').read()
    (_, at), = sections(t, 1)
    first, n, stride, lo, hi = U('<QIBxxxQQ', t, at)
    lengths, packed = [], []
    for i in range(n):
        profile, = U('<I', t, first + i * stride)
        start, end = U('<QQ', t, first + i * stride + 8)
        lengths.append((profile, (end - start) // 12))
        packed.append(t[start:end])
    return dict(min=lo, max=hi, traces=lengths), b''.join(packed)


def main():
    out = sys.argv[2]
    for number, d in enumerate(sys.argv[3:]):
        m = open(d + '/meta.db', 'rb').read()
        R = draft(d, m) if is_draft(m) else v4check.load(d)
        row = lambda table: {o: i for i, o in enumerate(table)}
        fns, files, mods = row(R['fns']), row(R['files']), row(R['mods'])
        contexts = {
            cid: [n['parent'], n['type'], n['rel'], n['prop'], fns.get(n.get('fn')),
                  files.get(n.get('file')), n.get('line', 0), mods.get(n.get('mod')),
                  n.get('off', 0)]
            for cid, n in R['ctx'].items()
        }
        trace, samples = traces(d)
        meta = dict(
            title=R['title'], description=R['desc'], kinds=R['kinds'], scopes=R['scopes'],
            metrics=R['metrics'], modules=list(R['mods'].values()),
            files=list(R['files'].values()), functions=[f[:5] for f in R['fns'].values()],
            entries=R['entries'], contexts=contexts, num_contexts=R['nctx'],
            profiles=[(bool(p['flags'] & 1), p['ids'] or []) for p in R['profs']],
            transposed=R['transposed_ok'], trace=trace,
        )
        values = []
        for i, p in enumerate(R['profs']):
            for ctx, row in p['rows'].items():
                for metric, value in row.items():
                    values += (i, ctx, metric, value)
        meta['num_values'] = len(values) // 4
        with open(f'{out}/{number}.json', 'w') as f:
            json.dump(meta, f)
        with open(f'{out}/{number}.bin', 'wb') as f:
            f.write(struct.pack('<' + 'IIHd' * meta['num_values'], *values))
            f.write(samples)


main()
