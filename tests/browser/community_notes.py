"""What the community of ``community.py`` has written: handbook, code, skill and plans."""

from __future__ import annotations

NOTES = {
    "practice/consent.md": "---\ntitle: Consent\ntype: practice\npublish: true\ntags: [decisions]\n"
    "author: [Ana]\n---\n# How we decide\n\nA proposal holds once nobody objects: consent, and not "
    "*unanimity*. See [circles](circles.md).\n\n| step | who |\n|---|---|\n| propose | anybody |\n"
    "| object | whoever it harms |\n",
    "practice/circles.md": "---\ntitle: Circles\ntype: practice\npublish: true\n"
    "tags: [decisions]\n---\nThose whom a thing touches decide it, by [consent](consent.md).\n",
    "practice/water.md": "---\ntitle: Who waters when\ntype: practice\npublish: true\n"
    "tags: [garden]\n---\nThe north beds at dawn. A [circle](circles.md) keeps the list.\n",
    "tags/consent.md": "---\ntitle: Consent\ntype: tag\npublish: true\n---\nNobody objects.\n",
}
CODE = {
    "beds.py": "def water(bed):\n    return f'{bed} is watered'\n\n\n"
    "def weed(bed):\n    return f'{bed} is weeded'\n",
    "day.py": "from beds import water, weed\n\n\ndef tend(bed):\n"
    '    """All of a day\'s work."""\n    return water(bed), weed(bed)\n\n\n'
    "def dawn():\n    return [tend(bed) for bed in ('north', 'south')]\n",
    "drought.py": "from beds import water\n\n\ndef rescue(beds):\n"
    "    return [water(bed) for bed in beds]\n",
}
SKILL = {
    "skills/prune/SKILL.md": "---\nname: prune\ndescription: Prune fruit trees in winter.\n---\n"
    "# Prune\n\nBegin in *February*, with what is dead. [When](references/when.md) it is mild.\n",
    "skills/prune/references/when.md": "# When\n\nOn a dry day above **5 degrees**.\n",
    "skills/prune/scripts/count.py": "print(3 * 'cut ')\n",
}
AGENT = {
    "gardener.md": "---\nname: gardener\ndescription: Knows the orchard's trees.\n---\n"
    "You look after fruit trees. Say *when* before you say *how*.\n",
}
PLANS = """
plans:
  free: {title: Free, budget: 0.50}
default: free
"""
