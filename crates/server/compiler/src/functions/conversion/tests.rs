use crate::Volatility;
use crate::functions::Function;
use crate::testing::{assert_shown, fault, shown, type_of};

#[test]
fn isnumeric_accepts_text_that_any_numeric_type_accepts() {
    assert_shown(&[
        ("ISNUMERIC('12')", "1"),
        ("ISNUMERIC('1e5')", "1"),
        ("ISNUMERIC('$1,000.50')", "1"),
        ("ISNUMERIC('abc')", "0"),
        ("ISNUMERIC('')", "0"),
        ("ISNUMERIC(NULL)", "0"),
        ("ISNUMERIC(1.5)", "1"),
        ("ISNUMERIC(GETDATE())", "0"),
    ]);
}

#[test]
fn hashes_are_the_published_ones() {
    let hex = |call: &str| shown(&format!("CONVERT(varchar(130), {call}, 2)"));
    assert_eq!(hex("HASHBYTES('MD5', 'abc')"), "900150983CD24FB0D6963F7D28E17F72");
    assert_eq!(
        hex("HASHBYTES('sha1', 'abc')"),
        "A9993E364706816ABA3E25717850C26C9CD0D89D"
    );
    assert_eq!(
        hex("HASHBYTES('SHA2_256', 'abc')"),
        "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD"
    );
    assert_eq!(hex("HASHBYTES('SHA2_512', '')").len(), 128);
    assert_eq!(hex("HASHBYTES('MD5', N'abc')"), hex("HASHBYTES('MD5', 0x610062006300)"));
    assert_eq!(hex("HASHBYTES('MD5', '\u{e9}')"), hex("HASHBYTES('MD5', 0xE9)"));
    assert_shown(&[
        ("HASHBYTES('crc', 'abc')", "NULL"),
        ("HASHBYTES('MD5', CAST(NULL AS varchar(3)))", "NULL"),
    ]);
    assert_eq!(type_of("HASHBYTES('MD5', 'abc')"), "varbinary(8000)");
    assert_eq!(fault("HASHBYTES('MD2', 'abc')").0, 40510);
    let text = "Argument data type int is invalid for argument 2 of hashbytes function.";
    assert_eq!(fault("HASHBYTES('MD5', 1)"), (8116, text.to_owned()));
}

#[test]
fn checksums_follow_the_collation_unless_they_are_binary() {
    assert_shown(&[
        ("CHECKSUM(42)", "42"),
        ("CHECKSUM(NULL)", "2147483647"),
        ("BINARY_CHECKSUM(-7)", "-7"),
    ]);
    assert_eq!(shown("CHECKSUM('abc')"), shown("CHECKSUM('ABC')"));
    assert_ne!(shown("BINARY_CHECKSUM('abc')"), shown("BINARY_CHECKSUM('ABC')"));
    assert_ne!(shown("CHECKSUM(1, 2)"), shown("CHECKSUM(2, 1)"));
    assert_eq!(shown("CHECKSUM(1.50)"), shown("CHECKSUM(1.5)"));
}

#[test]
fn newid_differs_in_each_row() {
    assert_eq!(shown("NEWID()"), "07070707-0707-0707-0707-070707070707");
    assert_eq!(type_of("NEWID()"), "uniqueidentifier");
    assert_eq!(Function::find("NewId").unwrap().volatility, Volatility::Row);
    assert_eq!(
        fault("PWDENCRYPT('a')"),
        (40510, "Function 'PWDENCRYPT' is not supported.".to_owned())
    );
}

#[test]
fn compression_is_gzip() {
    let hex = |call: &str| shown(&format!("CONVERT(varchar(130), {call}, 2)"));
    // As SQL Server has it in its header; the rest is any deflate's.
    let compressed = hex("COMPRESS('Basavaraj')");
    assert!(compressed.starts_with("1F8B0800000000000400"), "{compressed}");
    assert_eq!(
        hex("DECOMPRESS(0x1F8B0800000000000400734A2C4E2C4B2C4ACC0200D462F86709000000)"),
        "42617361766172616A"
    );
    assert_eq!(hex("DECOMPRESS(COMPRESS(N'ab'))"), "61006200");
    assert_eq!(hex("DECOMPRESS(COMPRESS(0x00FF))"), "00FF");
    assert_eq!(hex("DECOMPRESS(COMPRESS(''))"), "");
    assert_shown(&[
        ("DECOMPRESS(0x0102)", "NULL"),
        ("DECOMPRESS(0x)", "NULL"),
        ("COMPRESS(CAST(NULL AS varchar(3)))", "NULL"),
        (
            "DATALENGTH(DECOMPRESS(COMPRESS(REPLICATE(CAST('a' AS varchar(max)), 100000))))",
            "100000",
        ),
    ]);
    assert_eq!(type_of("COMPRESS('a')"), "varbinary(max)");
    let text = "Argument data type int is invalid for argument 1 of compress function.";
    assert_eq!(fault("COMPRESS(1)"), (8116, text.to_owned()));
    let text = "Argument data type varchar is invalid for argument 1 of decompress function.";
    assert_eq!(fault("DECOMPRESS('a')"), (8116, text.to_owned()));
}

#[test]
fn parse_reads_texts_as_dotnet_does() {
    assert_shown(&[
        (
            "PARSE('Monday, 13 December 2010' AS datetime2(0) USING 'en-US')",
            "2010-12-13 00:00:00",
        ),
        ("PARSE('$1,345.98' AS money)", "1345.98"),
        ("PARSE('-12' AS int USING '')", "-12"),
        ("PARSE('12.345' AS decimal(5,2))", "12.35"),
        ("PARSE('1.5e2' AS float)", "150"),
        ("PARSE('12/16/2010 3 PM' AS smalldatetime)", "Dec 16 2010  3:00PM"),
        (
            "PARSE('2010-12-16T15:00:00+02:00' AS datetimeoffset(0))",
            "2010-12-16 15:00:00 +02:00",
        ),
        (
            "PARSE('2010-12-16T15:00:00+02:00' AS datetime2(0))",
            "2010-12-16 13:00:00",
        ),
        ("PARSE('15:30' AS time(0))", "15:30:00"),
        ("TRY_PARSE('x' AS int)", "NULL"),
        ("TRY_PARSE('256' AS tinyint)", "NULL"),
        ("TRY_PARSE('13/12/2010' AS date)", "NULL"),
        ("TRY_PARSE('1/1/1752' AS datetime)", "NULL"),
        ("PARSE(CAST(NULL AS varchar(3)) AS int)", "NULL"),
    ]);
    let text = "Error converting string value 'x' into data type int using culture ''.";
    assert_eq!(fault("PARSE('x' AS int)"), (9819, text.to_owned()));
    let text = "Error converting string value 'x' into data type date using culture 'en-US'.";
    assert_eq!(fault("PARSE('x' AS date USING 'en-US')"), (9819, text.to_owned()));
    let text = "Invalid data type varchar in function PARSE.";
    assert_eq!(fault("PARSE('x' AS varchar(3))"), (10761, text.to_owned()));
    assert_eq!(fault("PARSE(NULL AS int)").0, 8116);
    assert_eq!(fault("PARSE(1 AS int)").0, 8116);
    assert_eq!(fault("PARSE('1' AS int USING 'de-DE')").0, 40510);
    assert_eq!(fault("TRY_PARSE('1' AS int USING 'xx')").0, 40510);
    assert_eq!(type_of("PARSE('1' AS numeric(5,1))"), "numeric(5,1)");
}

#[test]
fn a_sequential_id_is_refused_where_it_is_no_default() {
    assert_eq!(fault("NEWSEQUENTIALID()").0, 302);
    assert_eq!(fault("CONVERT(varchar(40), NEWSEQUENTIALID())").0, 302);
}
