"""Which parameter of a student's module is which of the reference's."""

from grader.structure import mappings


def linear(name, outputs, inputs):
    """The parameters of a layer."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def module(*layers):
    """The parameters of layers, in their order."""
    return {name: shape for layer in layers for name, shape in linear(*layer).items()}


HEADS = module(
    ("heads.0.q", 3, 5), ("heads.0.v", 4, 5), ("heads.1.q", 3, 5), ("heads.1.v", 4, 5), ("proj", 5, 8)
)  # fmt: skip


def layers_of(mapping):
    """The layers by name, for their weights."""
    return {
        name.removesuffix(".weight"): other.removesuffix(".weight")
        for name, other in mapping.items()
        if name.endswith(".weight")
    }


def ways(wanted, observed):
    """All ways to read the observed parameters."""
    return [layers_of(one) for one in mappings(wanted, observed)]


def test_structure_of_other_names_is_found_by_shape():
    """Lists and layers are called as students like, and come in any order."""
    observed = module(
        ("last", 5, 8), ("list.0.b", 4, 5), ("list.0.a", 3, 5), ("list.1.b", 4, 5), ("list.1.a", 3, 5)
    )  # fmt: skip

    heads = {f"heads.{head}.{ours}": f"list.{head}.{theirs}" for head in (0, 1) for ours, theirs in ("qa", "vb")}
    assert [heads | {"proj": "last"}] == ways(HEADS, observed)


def test_structure_of_lists_of_layers_is_that_of_a_list_of_heads():
    """Whether the number of the head stands before or after the layer's name."""
    observed = module(("qs.0", 3, 5), ("qs.1", 3, 5), ("vs.0", 4, 5), ("vs.1", 4, 5), ("out", 5, 8))

    (found,) = ways(HEADS, observed)

    assert ("qs.1", "vs.0", "out") == (found["heads.1.q"], found["heads.0.v"], found["proj"])


def test_structure_of_eleven_heads_keeps_their_order():
    """Numbers are numbers: 10 comes after 9."""
    wanted = module(*((f"heads.{number}.q", 3, 5) for number in range(11)))
    observed = module(*((f"list.{number}.p", 3, 5) for number in (10, *range(10))))

    (found,) = ways(wanted, observed)

    assert {f"heads.{number}.q": f"list.{number}.p" for number in range(11)} == found


def test_structure_that_can_be_read_in_two_ways_gives_both_the_first_come_first():
    """Two layers of one shape, of which no name says anything."""
    found = ways(module(("q", 3, 5), ("k", 3, 5)), module(("first", 3, 5), ("second", 3, 5)))

    assert [{"q": "first", "k": "second"}, {"q": "second", "k": "first"}] == found


def test_structure_with_a_name_of_its_own_is_read_in_one_way():
    """`k` is `k`, whatever the list is called and whatever else has its shape."""
    wanted = module(("heads.0.q", 3, 5), ("heads.0.k", 3, 5))

    assert [{"heads.0.q": "mine.0.q", "heads.0.k": "mine.0.k"}] == ways(
        wanted, module(("mine.0.k", 3, 5), ("mine.0.q", 3, 5))
    )


def test_structure_with_layers_left_over_is_found():
    """What a student has beside what is asked for."""
    assert [{"q": "a"}] == ways(module(("q", 3, 5)), module(("norm", 5, 5), ("a", 3, 5)))


def test_structure_with_too_few_layers_is_none():
    """One head, used twice, has the parameters of one."""
    assert [] == ways(HEADS, module(("heads.0.q", 3, 5), ("heads.0.v", 4, 5), ("proj", 5, 8)))


def test_structure_without_a_bias_is_another():
    """A layer is all of its parameters."""
    assert [] == ways(module(("q", 3, 5)), {"q.weight": (3, 5)})


def test_structure_of_a_layer_whose_name_is_a_number_is_found():
    """A module that is a list itself."""
    observed = module(("0.q", 3, 5), ("0.v", 4, 5), ("1.q", 3, 5), ("1.v", 4, 5), ("2", 5, 8))

    (found,) = ways(HEADS, observed)

    assert ("2", "1.v") == (found["proj"], found["heads.1.v"])


def test_structure_of_heads_that_lie_in_no_list_together_is_found():
    """The first head has a name of its own, as well as its place in the list."""
    observed = module(("first.q", 3, 5), ("first.v", 4, 5), ("heads.1.q", 3, 5), ("heads.1.v", 4, 5), ("proj", 5, 8))

    (found,) = ways(HEADS, observed)

    assert ("first.q", "heads.1.q") == (found["heads.0.q"], found["heads.1.q"])


def test_structure_that_sounds_like_the_reference_is_tried_first():
    """What no answer decides, since all are wrong, is decided by the names."""
    observed = module(("old", 3, 5), ("value_layer", 3, 5), ("Wk", 3, 5), ("to_q", 3, 5))

    first, *_ = ways(module(("q", 3, 5), ("k", 3, 5), ("v", 3, 5)), observed)

    assert {"q": "to_q", "k": "Wk", "v": "value_layer"} == first
