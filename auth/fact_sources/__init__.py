"""Sources of facts about people: GitHub membership, a passport score, hats and tokens on chains."""
